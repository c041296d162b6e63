class Launcher:
    def __init__(self, cache_hash):
        self.cache_hash = cache_hash


class CachingAutotuner:
    def __init__(self, fn, cache_hash):
        self.fn, self.launchers = fn, [Launcher(cache_hash)]

    def run(self, *args, stream, benchmark_run=False, **options):
        return None
