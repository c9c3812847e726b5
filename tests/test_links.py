"""The pages for people: every link leads somewhere, and the contents list is whole."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def text_of(page: str) -> str:
    """Return a page without its examples, in which # begins a comment and no heading."""
    return FENCED.sub("", (ROOT / page).read_text("utf-8"))


def headings(page: str, marks: str = "#+") -> list[str]:
    return re.findall(rf"^{marks} (.+)$", text_of(page), re.MULTILINE)


def anchor(heading: str) -> str:
    """Return the anchor that a Markdown page on the web gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def leads_nowhere(page: str, link: str) -> bool:
    file, _, place = link.partition("#")
    target = (ROOT / page).parent / file if file else ROOT / page
    if not target.exists():
        return True
    inside = str(target.resolve().relative_to(ROOT.resolve()))
    return bool(place) and place not in map(anchor, headings(inside))


@pytest.mark.parametrize("page", PAGES)
def test_every_relative_link_leads_to_a_file_and_a_heading_of_it(page: str) -> None:
    links = [link for link in LINK.findall(text_of(page)) if "://" not in link]

    assert [link for link in links if leads_nowhere(page, link)] == []


def test_a_link_to_no_file_or_no_heading_is_seen() -> None:
    assert leads_nowhere("README.md", "NONE.md")
    assert leads_nowhere("README.md", "#none")
    assert leads_nowhere("CONTRIBUTING.md", "README.md#none")
    assert not leads_nowhere("CONTRIBUTING.md", "README.md#settings")


def test_the_contents_list_of_the_readme_has_every_section_in_it() -> None:
    listed = LINK.findall(text_of("README.md").partition("## Contents")[2].partition("\n## ")[0])
    sections = [each for each in headings("README.md", "##") if each != "Contents"]

    assert [each for each in sections if f"#{anchor(each)}" not in listed] == []


def test_the_readme_leads_to_every_page() -> None:
    links = {link.partition("#")[0] for link in LINK.findall(text_of("README.md"))}

    assert [page for page in PAGES if page != "README.md" and page not in links] == []


def test_what_the_readme_leads_to_is_in_the_source_archive() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    carried = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    tops = {f"/{page.split('/')[0]}" for page in PAGES}

    assert tops <= set(carried)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CHANGELOG.md"])
def test_no_line_but_those_of_tables_and_examples_is_wider_than_120(page: str) -> None:
    lines = text_of(page).splitlines()

    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []
