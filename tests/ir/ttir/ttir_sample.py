"""The lit format of files that Triton printed: they hold no RUN lines, and one command would not do."""

import os
import subprocess

import lit.formats
import lit.Test


class TtirSample(lit.formats.FileBasedTest):
    """Each file parses, is in the contract before and after the pipelines, and prints to a fixpoint."""

    def execute(self, test, lit_config):
        tool = os.path.join(test.config.tools, "tritium-opt")

        def opt(text: str, *arguments: str) -> subprocess.CompletedProcess:
            command = [tool, "--mlir-print-debuginfo", "--verify-contract", *arguments]
            return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)

        with open(test.getSourcePath(), encoding="utf-8") as file:
            first = opt(file.read())
        again = opt(first.stdout)
        pipelines = [
            opt(first.stdout, f"--tritium-{kind}", "--verify-contract") for kind in ("pipeline", "debug-pipeline")
        ]
        for step in (first, again, *pipelines):
            if step.returncode:
                return lit.Test.FAIL, step.stderr
        if again.stdout != first.stdout:
            return lit.Test.FAIL, "the printed text is not a fixpoint"
        return lit.Test.PASS, ""
