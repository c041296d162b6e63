class RawKernel:
    def __init__(self, code, name, options=(), backend="nvrtc"):
        self.code, self.name, self.options, self.backend = code, name, options, backend
        self.file_path = self.name_expressions = None
        self.translate_cucomplex = self.jitify = False
