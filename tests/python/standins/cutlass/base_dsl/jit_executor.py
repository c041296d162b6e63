class JitCompiledFunction:
    def __init__(self, function_name, ptx):
        self.function_name, self._ptx = function_name, ptx

    @property
    def __ptx__(self):
        return self._ptx

    def run_compiled_program(self, exe_args):
        return 0
