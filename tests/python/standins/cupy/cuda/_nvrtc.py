import os

asked = []


class NVRTCError(RuntimeError):
    pass


def createProgram(src, name, headers, include_names):
    asked.append([src, name])
    return len(asked)


def compileProgram(program, options):
    asked[program - 1].append(options)
    if "error" in asked[program - 1][0]:
        raise NVRTCError("NVRTC_ERROR_COMPILATION (6)")


def getPTX(program):
    with open(os.environ["SWIZPROOF_STANDIN_PTX"]) as file:
        return file.read() + "\0"


def getProgramLog(program):
    return "kernel.cu(1): error: identifier is undefined\n"


def destroyProgram(program):
    pass
