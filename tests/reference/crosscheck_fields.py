#!/usr/bin/env python3
"""Every field that `crosscheck` reads changes an answer, gives a note or is refused: the list, and the test of it.

crosscheck_fields.py [-v]

Each field of a small profile, trace and their obligations is changed, one at a time. Exit code, JSON or complaint must change. The fields
of a profile that are not read are listed too, and must change nothing. Of records, tests/unit/records/evidence_test.cpp does the
same (EvidenceLeaves), and the output names what nothing is compared with.
"""
import copy
import json
import os
import sys
import tempfile

from swizproof import _swizproof

ADDRESS = [1024 + 128 * lane for lane in range(32)]
MATRICES = [1024 + 16 * lane for lane in range(32)]


def line(pc, sass, op, address, wavefronts, ideal):
    return {"kernel": "void k<4>(float*)", "launches": 1, "grid": [2, 3, 4], "block": [32, 2, 1], "pc": pc, "sass": sass, "file": "k.cu",
            "line": 7, "op": op, "executed": 3, "wavefronts": 3 * wavefronts, "ideal": 3 * ideal, "distribution": {str(wavefronts): 3},
            "patterns": [{"executed": 3, "wavefronts": wavefronts, "address": address}], "not_kept": 0,
            "worst": {"wavefronts": wavefronts, "address": address}}


TRACE = [
    {"format": "swizproof trace 1", "device": "NVIDIA H200", "architecture": "sm_90", "driver": "580", "toolkit": "13.0", "commit": "abc",
     "recorded": "2026-11-22T21:04:19Z", "program": ["./app", "--size", "8"]},
    line(16, "LDS R0, [R1]", "ld.shared.b32", ADDRESS, 32, 1),
    line(32, "LDSM.16.M88.4 R0, [R1]", "ldmatrix.x4", MATRICES, 4, 4),
    {"lines": 3, "dropped": 0, "unseen": {"void k<4>(float*)": ["UTMALDG.2D"]}, "failures": ["2 patches"]},
]

SOURCE = """"Kernel Name","void k<(int)4>(float *)","third"
"#","Address","Source","# Samples","Instructions Executed","L1 Wavefronts Shared","L1 Wavefronts Shared Ideal"
"1","0x7000","MOV R1, R2","5","3","0","0"
"2","0x7010","LDS R0, [R1]","5","3","96","3"
"3","0x7020","LDSM.16.M88.4 R0, [R1]","5","3","12","12"
"""
# column of SOURCE: what is read of it
SOURCE_COLUMNS = {"#": None, "Address": "pc; the first is the kernel's start", "Source": "instruction, predicate, generic pointer",
                  "# Samples": None, "Instructions Executed": "count", "L1 Wavefronts Shared": "count",
                  "L1 Wavefronts Shared Ideal": "count: how many executions were live"}

LDSM = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum"
RAN = "smsp__sass_inst_executed_op_ldsm.sum"
NARROW = f""""ID","Process ID","Host Name","Kernel Name","Stream","Metric Name","Metric Unit","Metric Value"
"0","7","host","void k<(int)4>(float *)","1","{RAN}","inst","3"
"0","7","host","void k<(int)4>(float *)","1","{LDSM}","","12"
"""
NARROW_COLUMNS = {"ID": "launch", "Process ID": "launch", "Host Name": "launch", "Kernel Name": "kernel", "Stream": None,
                  "Metric Name": "counter", "Metric Unit": "a prefix k, K, M, G, T is refused", "Metric Value": "count"}
WIDE = f""""ID","Kernel Name","{RAN}","{LDSM}"
"","","inst",""
"0","void k<(int)4>(float *)","3","12"
"""
WIDE_COLUMNS = {"ID": None, "Kernel Name": "kernel", RAN: "count", LDSM: "count"}

OBLIGATIONS = """[[obligation]]
name = "column"
kernel = "k<"
layout = "-"
access = ["ld.shared.b32: address = 128*lane"]
at_most = 32
[[obligation]]
name = "matrices"
layout = "-"
access = ["ldmatrix.x4: address = 16*lane"]
"""


class Runner:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.failures, self.changes = [], 0

    def run(self, **files):
        words = ["crosscheck"]
        for name, text in files.items():
            path = os.path.join(self.folder.name, name.replace("_", "."))
            with open(path, "w", encoding="ascii") as out:
                out.write(text)
            words.append(path)
        return _swizproof.answer(words + ["--json"])

    def answers(self, trace, profile, obligations):
        """All that crosscheck says of the three."""
        return [self.run(t_trace=trace, o_toml=obligations), self.run(t_trace=trace, p_csv=profile),
                self.run(p_csv=profile, o_toml=obligations)]

    def expect(self, what, before, after, differs):
        self.changes += 1
        if (before != after) != differs:
            self.failures.append(f"{what}: {'nothing changes' if differs else 'the answer changes'}")


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, path + (key,))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from leaves(one, path + (i,))
    else:
        yield path


def changed(value):
    return value + 1 if isinstance(value, int) else value[:-1] + chr(ord(value[-1]) ^ 1)


def text_of(trace):
    return "".join(json.dumps(one) + "\n" for one in trace)


def fields_of_traces(runner):
    before = runner.answers(text_of(TRACE), SOURCE, OBLIGATIONS)
    for i, one in enumerate(TRACE):
        for path in leaves(one):
            other = copy.deepcopy(TRACE)
            at = other[i]
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = changed(at[path[-1]])
            runner.expect(f"trace, line {i + 1}, {path}", before, runner.answers(text_of(other), SOURCE, OBLIGATIONS), True)
            if isinstance(at, dict):
                del at[path[-1]]
                runner.expect(f"trace, line {i + 1}, without {path}", before,
                              runner.answers(text_of(other), SOURCE, OBLIGATIONS), True)
        for key in one:
            other = copy.deepcopy(TRACE)
            other[i][key + "_"] = 1
            runner.expect(f"trace, line {i + 1}, unknown key", before, runner.answers(text_of(other), SOURCE, OBLIGATIONS), True)
            break


def fields_of_profiles(runner, name, text, columns):
    before = runner.answers(text_of(TRACE), text, OBLIGATIONS)
    rows = [one.split('"')[1::2] for one in text.splitlines()]
    header = next(i for i, row in enumerate(rows) if list(columns) == row)

    def written(rows):
        return "".join(",".join(f'"{field}"' for field in row) + "\n" for row in rows)

    for column, (field, read) in enumerate(columns.items()):
        for i in range(header + 1, len(rows)):
            unit = field == "Metric Unit" or rows[i][:2] == ["", ""]
            if rows[i][column] == "" and not field == "Metric Unit":
                continue
            others = ["Kinst"] if unit else [changed(rows[i][column])]
            if read and read.split(":")[0] == "count" and not unit:
                if name == "source" and i == header + 1:
                    continue  # MOV: no access to shared memory
                others = [str(int(rows[i][column]) + 1), "", "-", "N/A", "0", "1.5", "x"]
                if rows[i][column] == "0":
                    others.remove("0")
            if field == "Source" and i == header + 1:
                continue
            for value in others:
                other = copy.deepcopy(rows)
                other[i][column] = value
                runner.expect(f"{name}, row {i + 1}, {field} = '{value}'", before,
                              runner.answers(text_of(TRACE), written(other), OBLIGATIONS), read is not None)
        other = copy.deepcopy(rows)
        other[header][column] = "other"
        runner.expect(f"{name}, no column {field}", before, runner.answers(text_of(TRACE), written(other), OBLIGATIONS),
                      read is not None and field not in ("ID", "Process ID", "Host Name", "Metric Unit"))
    if name == "source":
        other = copy.deepcopy(rows)
        other[0][1] = "void k<(int)8>(float *)"
        runner.expect("source, kernel", before, runner.answers(text_of(TRACE), written(other), OBLIGATIONS), True)
        other = copy.deepcopy(rows)
        other[0][2] = "another"
        runner.expect("source, behind the kernel", before, runner.answers(text_of(TRACE), written(other), OBLIGATIONS), False)
        for i in range(header + 1, len(rows)):
            gone = rows[:i] + rows[i + 1:]
            runner.expect(f"source, no row {i + 1}", before, runner.answers(text_of(TRACE), written(gone), OBLIGATIONS), True)
            twice = rows[:i] + [rows[i]] + rows[i:]
            runner.expect(f"source, row {i + 1} twice", before, runner.answers(text_of(TRACE), written(twice), OBLIGATIONS), True)


def main():
    runner = Runner()
    code, document, complaint = runner.run(t_trace=text_of(TRACE), o_toml=OBLIGATIONS)
    if code != 3 or b'"as_proved": 2' not in document:  # it has failures of the tracer
        runner.failures.append(f"the trace is as proved: {code} {document} {complaint}")
    fields_of_traces(runner)
    fields_of_profiles(runner, "source", SOURCE, SOURCE_COLUMNS)
    fields_of_profiles(runner, "narrow", NARROW, NARROW_COLUMNS)
    fields_of_profiles(runner, "wide", WIDE, WIDE_COLUMNS)
    for failure in runner.failures:
        print(failure)
    print(f"{runner.changes} changes of fields, {len(runner.failures)} failures")
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
