"""GPUs as last reported, and their recent past."""

from watched_host import Watch

from tui.events import GpuProcess, GpuProcesses


def test_the_slope_is_that_of_the_last_ten_seconds(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.gpus(1024.0)
    for second in range(20):
        host.wait(1)
        host.gpus(1024.0 + (second + 1) * 2048.0)
    assert host.state.gpus.by_index[0].slope_gib_s == 2.0
    for _ in range(12):
        host.wait(1)
        host.gpus(1024.0 + 20 * 2048.0)
    assert host.state.gpus.by_index[0].slope_gib_s == 0.0


def test_one_reading_has_no_slope(watched: Watch) -> None:
    host = watched()
    host.gpus(1024.0)
    assert host.state.gpus.by_index[0].slope_gib_s is None


def test_memory_that_is_not_known_has_no_slope_and_is_not_zero(watched: Watch) -> None:
    host = watched()
    for _ in range(3):
        host.wait(1)
        host.gpus(None)
    gpu = host.state.gpus.by_index[0]
    assert gpu.slope_gib_s is None
    assert gpu.peak_mib is None


def test_memory_has_moved_only_when_more_than_noise_changed(watched: Watch) -> None:
    host = watched()
    host.gpus(615.0)
    host.wait(1)
    host.gpus(620.0)
    assert host.state.gpus.by_index[0].moved_s is None
    host.wait(1)
    host.gpus(700.0)
    assert host.state.gpus.by_index[0].moved_s == host.mono


def test_history_keeps_unknown_readings_and_at_most_240(watched: Watch) -> None:
    host = watched()
    for value in range(300):
        host.wait(1)
        host.gpus(1.0, utilisation=None if value == 299 else float(value % 100))
    history = host.state.gpus.by_index[0].history
    assert len(history) == 240
    assert history[-1] is None
    assert history[-2] == 98.0


def test_peaks_count_from_the_load_that_is_followed(watched: Watch) -> None:
    host = watched()
    host.gpus(90_000.0)
    host.gpus(600.0)
    assert host.state.gpus.by_index[0].peak_mib == 90_000.0
    host.starts()
    host.gpus(700.0)
    assert host.state.gpus.by_index[0].peak_mib == 700.0


def test_who_held_a_gpu_is_known_after_it_is_lost_and_forgotten_once_it_is_back(watched: Watch) -> None:
    host = watched()
    host.gpus(1024.0)
    held = [GpuProcess(index=0, pid=7, memory_mib=1024.0)]
    host.happen(GpuProcesses(**host.when, processes=held))
    host.gpus(None, state="lost")
    host.happen(GpuProcesses(**host.when, processes=[]))
    assert host.state.gpus.held_by({7}) == {0}
    host.gpus(0.0)
    host.happen(GpuProcesses(**host.when, processes=[]))
    assert host.state.gpus.held_by({7}) == set()
