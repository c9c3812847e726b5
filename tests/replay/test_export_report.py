"""The report is one page by itself, whatever the recording says: hostile text stays text."""

import re
import tarfile
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from awkward_recordings import Load, record

from tui.commands import export
from tui.commands.export import Wanted
from tui.replay.report_chart import Band, axis_step_s, labels
from tui.settings import Choices

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
VOID = ("meta", "br", "img", "link", "input")


class Page(HTMLParser):
    """Reads a page: its elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def page_of(folder: Path, load: Load) -> str:
    """Export a load and return its page."""
    out = folder / "one.tar.gz"
    export.run(Wanted(str(record(folder / "rec", load)), str(out), False, True), Choices())
    with tarfile.open(out) as tar:
        file = tar.extractfile("one/report.html")
        assert file is not None
        return file.read().decode()


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    """Return the page of a load where every name is hostile."""
    line = f"WARNING \x1b[31m{HOSTILE}\x07\u202e evil \u2066"
    load = Load(
        end="oom",
        host="h<b>ost",
        user="u\"'><s>er",
        model=f"/m/{HOSTILE}",
        served=HOSTILE + "\u202e",
        lines=(line,),
        environment={"HF_X<i>": HOSTILE},
    )
    return page_of(tmp_path, load)


def test_hostile_text_makes_no_element_and_no_attribute(hostile: str) -> None:
    page = Page(hostile)
    assert not page.open
    assert {tag for tag, _ in page.elements}.isdisjoint(
        {"script", "img", "s", "b", "i", "iframe", "link", "a"}
    )
    names = {name for _, attributes in page.elements for name in attributes}
    assert not [name for name in names if name.startswith("on")]
    assert "alert(1)" in page.text


def test_no_control_or_direction_character_is_left(hostile: str) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", hostile)


def test_it_loads_nothing_and_runs_nothing(hostile: str) -> None:
    page = Page(hostile)
    for _, attributes in page.elements:
        assert not {"src", "href", "action", "data", "srcset", "style"} & set(attributes)
    policies = [each["content"] for tag, each in page.elements if tag == "meta" and "http-equiv" in each]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]
    style = hostile.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def test_it_has_both_shades_and_fits_a_phone(hostile: str) -> None:
    assert "prefers-color-scheme: dark" in hostile
    assert 'name="viewport" content="width=device-width' in hostile


def test_the_outcome_comes_first_then_why_and_what_to_do(tmp_path: Path) -> None:
    page = Page(page_of(tmp_path, Load(end="oom")))
    text = page.text
    assert text.index("Failed") < text.index("Root cause") < text.index("Next step") < text.index("Phases")
    assert "out of GPU memory" in text
    for head in ("Readiness", "GPUs", "The log lines that matter", "Environment", "Versions", "Notices"):
        assert head in text


def test_a_ready_load_says_so(tmp_path: Path) -> None:
    text = page_of(tmp_path, Load())
    assert '<h1 class="ready">Ready</h1>' in text
    assert "Root cause" not in text


def test_the_chart_is_well_formed_with_a_row_for_each_gpu_and_a_band_for_each_phase(tmp_path: Path) -> None:
    text = page_of(tmp_path, Load())
    svg = svg_of(text)
    kinds = [each.get("class") for each in svg.iter()]
    assert kinds.count("memory") == kinds.count("busy") == 2
    titles = [each.text or "" for each in svg.iter("title")]
    assert [title.partition(":")[0] for title in titles][:4] == [
        "launch",
        "distributed",
        "weights",
        "KV cache",
    ]
    _, _, width, height = map(float, (svg.get("viewBox") or "").split())
    for line in svg.iter("polyline"):
        for point in (line.get("points") or "").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height


def test_both_ends_of_each_axis_are_labelled_where_they_are(tmp_path: Path) -> None:
    svg = svg_of(page_of(tmp_path, Load()))
    frames = [each for each in svg.iter() if each.get("class") == "frame"]
    for frame in frames:
        top = float(frame.get("y") or 0)
        bottom = top + float(frame.get("height") or 0)
        inside = [
            (each.text, float(each.get("y") or 0))
            for each in svg.iter("text")
            if top <= float(each.get("y") or 0) <= bottom
        ]
        assert {text for text, y in inside if y < top + 20} == {"140 GiB", "100 %"}
        assert {text for text, y in inside if y > bottom - 5} == {"0", "0 %"}


def test_every_band_has_its_number_and_stands_in_the_list_below(tmp_path: Path) -> None:
    page = page_of(tmp_path, Load())
    svg = svg_of(page)
    bands = [each for each in svg.iter() if each.get("class") == "band"]
    listed = re.findall(r"<li>(.*?)</li>", page)
    assert len(listed) == len(bands) >= 5
    labels = [text for each in svg.iter("text") if float(each.get("y") or 0) < 30 and (text := each.text)]
    assert [int(label.split()[0]) for label in labels] == list(range(1, len(bands) + 1))
    assert listed[0].startswith("launch: 0.0 s to ")


def test_labels_of_short_bands_never_overlap() -> None:
    bands = [Band(number, "KV cache", number * 0.3, number * 0.3 + 0.3) for number in range(1, 200)]
    found = re.findall(r'<text x="([\d.]+)" y="(\d+)">(.*?)<', "".join(labels(bands, 600.0)))
    assert 0 < len(found) < 200
    for row in ("12", "26"):
        ends = 0.0
        for x, _, text in (each for each in found if each[1] == row):
            assert float(x) >= ends
            ends = float(x) + len(text) * 5


def svg_of(page: str) -> ElementTree.Element:
    drawn = re.search(r"<svg.*?</svg>", page, re.DOTALL)
    assert drawn is not None
    return ElementTree.fromstring(drawn[0])


@pytest.mark.parametrize(
    ("length_s", "step_s"),
    [(0.0, 1), (95.0, 10), (3600.0, 600), (864_000.0, 86_400), (1e10, 86_400 * 11_575)],
)
def test_the_axis_has_ten_times_at_most_however_long_the_recording(length_s: float, step_s: int) -> None:
    assert axis_step_s(length_s) == step_s
    assert length_s / step_s <= 10
