"""The notebooks of docs/notebooks, executed: each cell prints what is committed. Of a picture it counts that there is one, as its bytes are
matplotlib's. `UPDATE=1 tests/python/notebooks_test.py` writes the outputs anew; then read the difference and look at the pictures."""

import base64
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "notebooks"
NEEDED = ("nbformat", "nbclient", "ipykernel", "matplotlib")
MISSING = [name for name in NEEDED if not importlib.util.find_spec(name)]
#: Bytes of a notebook with its outputs.
MOST_BYTES = 160_000


def executed(notebook):
    """The notebook after a run in a new kernel of this Python. It waits as long as a cell takes: a busy machine changes nothing."""
    import nbclient

    with tempfile.TemporaryDirectory() as folder:
        spec = pathlib.Path(folder, "kernels", "python3", "kernel.json")
        spec.parent.mkdir(parents=True)
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec.write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
        os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # else a warning of the kernel's debugger
        os.environ.update(JUPYTER_PATH=folder, JUPYTER_RUNTIME_DIR=folder, IPYTHONDIR=folder, MPLCONFIGDIR=folder)
        # A slow machine is told that matplotlib lists the fonts: that is done before.
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=True, stderr=subprocess.DEVNULL)
        resources = {"metadata": {"path": str(FOLDER)}}
        client = nbclient.NotebookClient(notebook, timeout=None, startup_timeout=3600, kernel_name="python3", resources=resources)
        return client.execute()


def joined(outputs):
    """The outputs of a cell with what it printed in one piece: a kernel sends as much as there is after some time."""
    pieces = []
    for output in outputs:
        if output["output_type"] == "stream" and pieces and pieces[-1].get("name") == output["name"]:
            pieces[-1]["text"] = "".join(pieces[-1]["text"]) + "".join(output["text"])
        else:
            pieces.append(output)
    return pieces


def shown(cell):
    """What a reader sees below a cell: texts as they are, and the kinds of pictures."""
    parts = []
    for output in joined(cell.get("outputs", [])):
        if output["output_type"] == "stream":
            parts.append((output["name"], "".join(output["text"])))
        elif output["output_type"] == "error":
            parts.append(("error", output["ename"], output["evalue"]))
        else:
            data = output["data"]
            parts += [(kind, "a picture" if kind.startswith("image/") else data[kind]) for kind in sorted(data)]
    return parts


def cleaned(notebook):
    """The notebook without what a run adds: counts, times, the version of Python."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}
        if cell["cell_type"] == "code":
            cell["execution_count"], cell["outputs"] = None, joined(cell["outputs"])
            for output in cell["outputs"]:
                output.pop("execution_count", None)
                if output["output_type"] == "execute_result":
                    output["execution_count"], output["metadata"] = None, {}
    notebook["metadata"] = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return notebook


@unittest.skipIf(MISSING, f"not run: there is no {', '.join(MISSING)} here")
class Notebooks(unittest.TestCase):
    def test_the_outputs_are_what_is_committed(self):
        import nbformat

        paths = sorted(FOLDER.glob("*.ipynb"))
        self.assertEqual([path.stem for path in paths], ["choose_a_layout", "derive_a_descriptor", "read_a_trace"])
        for path in paths:
            with self.subTest(path.stem):
                committed = nbformat.read(path, as_version=4)
                again = executed(nbformat.read(path, as_version=4))
                if os.environ.get("UPDATE"):
                    nbformat.write(cleaned(again), path)
                    continue
                for number, (old, new) in enumerate(zip(committed["cells"], again["cells"])):
                    self.assertEqual(shown(old), shown(new), f"cell {number}:\n{old['source']}")


class Committed(unittest.TestCase):
    def test_they_are_small_and_have_their_outputs(self):
        for path in sorted(FOLDER.glob("*.ipynb")):
            text = path.read_text()
            self.assertLess(len(text), MOST_BYTES, path.name)
            self.assertNotIn(str(ROOT), text, path.name)
            cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
            self.assertGreater(len(cells), 3, path.name)
            pictures = [output["data"]["image/png"] for cell in cells for output in cell["outputs"] if "image/png" in output.get("data", {})]
            self.assertTrue(all(base64.b64decode(one).startswith(b"\x89PNG") for one in pictures), path.name)
            for cell in cells:
                self.assertEqual([one for one in shown(cell) if one[0] in ("error", "stderr")], [], path.name)
                source = "".join(cell["source"])
                last = source.splitlines()[-1]
                is_silent = "print(" not in source and re.match(r"import |[\w, ]+ = ", last) is not None
                self.assertEqual(bool(cell["outputs"]), not is_silent, f"{path.name}: {source}")


if __name__ == "__main__":
    unittest.main()
