"""Published clients, each installed in an environment of its own: AIPerf, GuideLLM, vLLM's.

They take their counts from the server. Each is given a tokenizer of one token a word, made on the spot, as
none starts without one.
"""

import json
import os
import subprocess
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from accuracy_clients import CLIENTS, Claim, Job, version


@dataclass(frozen=True, slots=True)
class Published(ABC):
    """A client that is run by its command line and writes a file."""

    python: str
    package: ClassVar[str]

    @property
    def name(self) -> str:
        """Its package and version."""
        return f"{self.package} {version(self.python, self.package)}"

    def start(self, job: Job) -> subprocess.Popen[bytes]:
        """Make its tokenizer and start it, its output in a file."""
        tokenizer = job.folder / "tokenizer"
        tokenizer.mkdir()
        subprocess.run([self.python, CLIENTS / "make_tokenizer.py", tokenizer], check=True, env=_environ())
        with (job.folder / "output.txt").open("wb") as out:
            command = [str(part) for part in self.command(job, tokenizer)]
            return subprocess.Popen(command, stdout=out, stderr=out, cwd=job.folder, env=_environ())

    def claim(self, job: Job, process: subprocess.Popen[bytes]) -> Claim:
        """Wait for its end and read its file."""
        if process.wait() or not self.file(job).exists():
            said = (job.folder / "output.txt").read_text(errors="replace")[-2000:]
            raise SystemExit(f"{self.name} failed with {job.streams} streams:\n{said}")
        return self.read(json.loads(self.file(job).read_text()))

    @abstractmethod
    def command(self, job: Job, tokenizer: Path) -> list[str | Path]:
        """Return its command line."""

    @abstractmethod
    def file(self, job: Job) -> Path:
        """Return where it writes its figures."""

    @abstractmethod
    def read(self, found: dict[str, Any]) -> Claim:
        """Return what its file says."""


class AIPerf(Published):
    """NVIDIA's AIPerf; its inter-token latency is the mean time per token of a request."""

    package = "aiperf"

    def command(self, job: Job, tokenizer: Path) -> list[str | Path]:
        """Return its command line."""
        program = Path(self.python).with_name("aiperf")
        place = ["profile", "--url", job.url, "--model", "mock", "--endpoint-type", "chat", "--streaming"]
        load = ["--concurrency", str(job.streams), "--request-count", str(job.requests)]
        lengths = ["--isl", str(job.words), "--osl", str(job.tokens), "--extra-inputs", "ignore_eos:true"]
        out = ["--artifact-dir", str(job.folder), "--ui-type", "none"]
        less = ["--no-gpu-telemetry", "--no-server-metrics"]
        counts = ["--tokenizer", str(tokenizer), "--use-server-token-count"]
        return [program, *place, *load, *lengths, *counts, *out, *less]

    def file(self, job: Job) -> Path:
        """Return where it writes its figures."""
        return job.folder / "profile_export_aiperf.json"

    def read(self, found: dict[str, Any]) -> Claim:
        """Return what its file says."""
        ttft = found["time_to_first_token"]
        return Claim(
            requests=int(found["request_count"]["avg"]),
            ttft_p50_ms=ttft["p50"],
            ttft_p99_ms=ttft["p99"],
            tpot_mean_ms=found["inter_token_latency"]["avg"],
            tokens_per_s=found["output_token_throughput"]["avg"],
            concurrency=found["effective_concurrency"]["avg"],
        )


class GuideLLM(Published):
    """GuideLLM; its TPOT includes the first token, so its mean inter-token latency is taken."""

    package = "guidellm"

    def command(self, job: Job, tokenizer: Path) -> list[str | Path]:
        """Return its command line."""
        program = Path(self.python).with_name("guidellm")
        return [
            program, "run", "--disable-console",
            "--backend", f"kind=openai_http,target={job.url},model=mock",
            "--profile", f"kind=concurrent,streams={job.streams}",
            "--constraint", f"kind=max_requests,count={job.requests}",
            "--tokenizer", f"kind=huggingface_auto,model={tokenizer}",
            "--data", f"kind=synthetic_text,prompt_tokens={job.words},output_tokens={job.tokens}",
            "--output", f"kind=json,path={self.file(job)}",
        ]  # fmt: skip

    def file(self, job: Job) -> Path:
        """Return where it writes its figures."""
        return job.folder / "guidellm.json"

    def read(self, found: dict[str, Any]) -> Claim:
        """Return what its file says."""
        metrics = found["benchmarks"][0]["metrics"]
        ttft = metrics["time_to_first_token_ms"]["successful"]
        return Claim(
            requests=metrics["request_totals"]["successful"],
            ttft_p50_ms=ttft["median"],
            ttft_p99_ms=ttft["percentiles"]["p99"],
            tpot_mean_ms=metrics["inter_token_latency_ms"]["successful"]["mean"],
            tokens_per_s=metrics["output_tokens_per_second"]["successful"]["mean"],
            concurrency=metrics["request_concurrency"]["successful"]["mean"],
        )


class VLLM(Published):
    """``vllm bench serve``, through clients/vllm_client.py, which tells what is stubbed."""

    package = "vllm"

    def command(self, job: Job, tokenizer: Path) -> list[str | Path]:
        """Return its command line."""
        place = ["--backend", "openai-chat", "--endpoint", "/v1/chat/completions", "--base-url", job.url]
        load = ["--max-concurrency", str(job.streams), "--num-prompts", str(job.requests), "--ignore-eos"]
        lengths = ["--random-input-len", str(job.words), "--random-output-len", str(job.tokens)]
        out = ["--save-result", "--result-filename", str(self.file(job)), "--disable-tqdm"]
        model = ["--model", "mock", "--tokenizer", str(tokenizer), "--temperature", "0"]
        script = CLIENTS / "vllm_client.py"
        return [self.python, script, *place, *load, *model, "--dataset-name", "random", *lengths, *out]

    def file(self, job: Job) -> Path:
        """Return where it writes its figures."""
        return job.folder / "vllm.json"

    def read(self, found: dict[str, Any]) -> Claim:
        """Return what its file says."""
        return Claim(
            requests=found["completed"],
            ttft_p50_ms=found["median_ttft_ms"],
            ttft_p99_ms=found["p99_ttft_ms"],
            tpot_mean_ms=found["mean_tpot_ms"],
            tokens_per_s=found["output_throughput"],
        )


def _environ() -> dict[str, str]:
    """Return an environment in which none of them reaches for the network."""
    # AIPerf takes a folder for the name of a model on the hub when HF_HUB_OFFLINE is set.
    quiet = {"DO_NOT_TRACK": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "VLLM_NO_USAGE_STATS": "1"}
    return {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"} | quiet
