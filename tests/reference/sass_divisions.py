#!/usr/bin/env python3
"""sass_divisions.py --cases N --seed S: a reference model of `swizproof kernel` on the code by which ptxas divides (sass_interpreter.py).

Random kernels divide numbers of lanes, parameters and sums of both by such numbers: quotients and remainders, with and without a sign, by 0 or
not, with the instructions in every order that ptxas has, and in some that it has not: there a constant, an operand or a comparison is
another one, and the result is no quotient. What the instructions give, the interpreter computes; sass.py compares. Where nothing is changed, the
interpreter's own quotients are checked, too. The last line has the numbers; exit code 1 if something differs.
"""
import os
import random
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("sass_divisions.py: not run (numpy is not installed)")
    sys.exit(77)

import asking
import sass
import sass_interpreter


def value(draw, to):
    """Lines that put a number into register `to`: of lanes, of the launch, or of both."""
    small, any_ = draw.choice([1, 3, 7, 31, 100, 1000]), draw.choice([0, 1, 2, 5, 7, 33, 128, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff])
    param = draw.choice(["c[0x0][0x210]", "c[0x0][0x214]"])
    forms = [[f"MOV R{to}, R0"], [f"IADD3 R{to}, R0, {hex(small)}, RZ"], [f"IADD3 R{to}, R0, -{hex(small)}, RZ"], [f"MOV R{to}, {param}"],
             [f"LOP3.LUT R{to}, R0, {param}, RZ, 0x3c, !PT"], [f"MOV R{to}, {hex(any_)}"], [f"S2R R{to}, SR_CTAID.X"],
             [f"MOV R{to}, {param}", f"LOP3.LUT R{to}, R{to}, {hex(draw.choice([1, 3, 7, 255]))}, RZ, 0xc0, !PT"],
             [f"MOV R{to}, {param}", f"IMAD R{to}, R{to}, {hex(draw.choice([4, 32, 96]))}, R0"],
             [f"LOP3.LUT R{to}, R0, {hex(draw.choice([1, 3, 7, 24]))}, RZ, 0xc0, !PT"]]
    return draw.choice(forms)


def division(draw, odd):
    """Lines that divide R2 by R3: the quotient or the remainder in R9. `odd`: a change that makes something else of it."""
    is_signed, remainder = draw.random() < .5, draw.random() < .4
    x, d, lines = "R2", "R3", []
    if is_signed:
        lines += ["IABS R4, R2", "IABS R5, R3"]
        x, d = "R4", "R5"
    lines += [f"I2F{'' if is_signed else '.U32'}.RP R10, {d}", "MUFU.RCP R10, R10",
              draw.choice(["VIADD R12, R10, {0}", "IADD3 R12, R10, {0}, RZ"]).format("0xffffffd" if odd == "bias" else "0xffffffe"),
              "F2I.FTZ.U32.TRUNC.NTZ R13, R12", draw.choice(["IMAD.MOV.U32 R12, RZ, RZ, RZ", "MOV R12, RZ", "CS2R.32 R12, SRZ"])]
    if odd == "low":
        lines[-1] = "MOV R12, R0"
    if draw.random() < .6:
        lines += [draw.choice(["IADD3 R14, -R13, RZ, RZ", "IMAD.MOV R14, RZ, RZ, -R13", "IADD3 R14, RZ, -R13, RZ"]), f"IMAD R14, R14, {d}, RZ"]
    else:
        lines += [f"IADD3 R14, -{d}, RZ, RZ", draw.choice(["IMAD R14, R14, R13, RZ", "IMAD R14, R13, R14, RZ"])]
    lines += ["IMAD.HI.U32 R13, R13, R14, R12", draw.choice([f"IMAD.HI.U32 R9, R13, {x}, RZ", f"IMAD.HI.U32 R9, {x}, R13, RZ"])]
    if draw.random() < .6:
        lines += ["IMAD.MOV R15, RZ, RZ, -R9", draw.choice([f"IMAD R16, R15, {d}, {x}", f"IMAD R16, {d}, R15, {x}"])]
    else:
        lines += [f"IMAD.MOV R15, RZ, RZ, -{d}", f"IMAD R16, R9, R15, {x}"]
    if odd == "dividend":
        lines[-1] = lines[-1].rsplit(",", 1)[0] + ", R0"
    for k, p in enumerate(draw.choice([("P0", "P1"), ("P0", "P0")])):
        gt = draw.random() < .5
        how = "GE" if odd == "gt" and gt else "GT"
        lines.append(f"ISETP.{how}.U32.AND {p}, PT, {d}, R16, PT" if gt else f"ISETP.{'GT' if odd == 'gt' else 'GE'}.U32.AND {p}, PT, R16, {d}, PT")
        guard = f"@{'!' if gt else ''}{p} "
        less = guard + draw.choice([f"IADD3 R16, R16, -{d}, RZ", f"IMAD.IADD R16, R16, 0x1, -{d}", f"VIADD R16, R16, -{d}"])
        more = guard + draw.choice(["VIADD R9, R9, 0x1", "IADD3 R9, R9, 0x1, RZ"])
        steps = [less] if remainder else [more] if k == 1 else draw.sample([less, more], 2)
        if odd != "once" or k == 0:
            lines += steps
    if remainder:
        lines.append("MOV R9, R16")
    if is_signed:
        sign = ["ISETP.GE.AND P1, PT, R2, RZ, PT"] if remainder else ["LOP3.LUT R17, R2, R3, RZ, 0x3c, !PT", "ISETP.GE.AND P1, PT, R17, RZ, PT"]
        lines += sign + [draw.choice(["@!P1 IADD3 R9, -R9, RZ, RZ", "@!P1 IMAD.MOV R9, RZ, RZ, -R9"])]
    fixed = draw.random() < .7
    if fixed:
        lines += draw.choice([["ISETP.NE.U32.AND P2, PT, R3, RZ, PT", "@!P2 LOP3.LUT R9, RZ, R3, RZ, 0x33, !PT"],
                              ["ISETP.NE.AND P2, PT, RZ, R3, PT", "LOP3.LUT R18, RZ, R3, RZ, 0x33, !PT", "SEL R9, R18, R9, !P2"]])
    return lines, (is_signed, remainder, fixed)


def kernel(draw, name):
    odd = draw.choice(["bias", "low", "dividend", "gt", "once"]) if draw.random() < .25 else ""
    lines = ["S2R R0, SR_TID.X"] + value(draw, 2) + value(draw, 3)
    body, kind = division(draw, odd)
    lines += body + ["MOV R20, R9"]
    lines += draw.choice([["IMAD.SHL.U32 R9, R9, 0x4, RZ"], ["IMAD R9, R9, 0x84, RZ"], ["LEA R9, R9, R0, 0x5", "IMAD.SHL.U32 R9, R9, 0x4, RZ"],
                          ["LOP3.LUT R9, R9, 0x7, RZ, 0xc0, !PT", "IMAD R9, R9, R0, RZ", "IMAD.SHL.U32 R9, R9, 0x4, RZ"],
                          ["ISETP.GT.U32.AND P3, PT, R9, 0x8, PT", "@P3 EXIT", "IMAD.SHL.U32 R9, R0, 0x8, RZ"]])
    lines += ["LOP3.LUT R9, R9, 0x7ffc, RZ, 0xc0, !PT", "STS [R9+0x400], R0", "EXIT"]
    text = f'\t.section\t.text.{name},"ax",@progbits\n.text.{name}:\n        .other          {name},@"STO_CUDA_ENTRY STV_DEFAULT"\n{name}:\n'
    for k, line in enumerate(lines):
        text += f"        /*{16 * k:04x}*/   {line} ;\n"
    return text, None if odd else kind


def check_quotients(k, kind, arch, seed, tally):
    """The interpreter's result is the quotient or the remainder, as CUDA defines them."""
    machine = sass_interpreter.Machine(k, arch, (64, 1, 1), seed, 3000)
    machine.run()
    is_signed, remainder, fixed = kind
    read = sass_interpreter.signed if is_signed else (lambda v: v.astype(np.int64))
    x, d, q = (read(machine.value(sass_interpreter.Op(f"R{r}"))) for r in (2, 3, 20))
    for a, b, c in zip(x.tolist(), d.tolist(), q.tolist()):
        if b == 0:
            expected = -1 if is_signed else (1 << 32) - 1
            if not fixed:
                continue
        else:
            whole = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            expected = a - whole * b if remainder else whole
            expected = (expected + (1 << 31)) % (1 << 32) - (1 << 31) if is_signed else expected
        if c != expected:
            return tally.differ(f"{k.name}: {a} by {b} is {c}, not {expected}")


def main():
    given = asking.options_of(__doc__)
    draw, tally, checked, unknown = random.Random(given.seed), sass.Tally(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, given.cases, 100):
            made = [kernel(draw, f"k{first + k}") for k in range(min(100, given.cases - first))]
            path = os.path.join(folder, "a.sass")
            with open(path, "w") as f:
                f.write("\t.target\tsm_90\n" + "".join(text for text, _ in made))
            arch, kernels = sass_interpreter.kernels(path)
            answers, complaint = sass.decided(given.binary, path, (64, 1, 1))
            if answers is None:
                tally.differ(complaint[:300])
                continue
            for k, (_, kind) in zip(kernels, made):
                seed = draw.randrange(1 << 30)
                unknown += sum(a["verdict"] == "unknown" for a in answers[k.name]["accesses"])
                sass.check_kernel(given.binary, path, "", k, arch, (64, 1, 1), 3, 3000, seed, tally, answers)
                if kind:
                    check_quotients(k, kind, arch, seed, tally)
                    checked += 1
    print(f"{given.cases} kernels, {checked} with quotients that were checked, {tally.accesses} executed accesses, {tally.reached} bounds seen reached, "
          f"{unknown} unknown; {tally.different} differences")
    return 1 if tally.different or tally.accesses == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
