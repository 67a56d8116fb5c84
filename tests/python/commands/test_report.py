"""The page of `featherstorm bench --report`: whole, about this machine alone, and readable by machines and people."""

import html.parser
import json
import math
import os
import re
import sys

import pytest

from featherstorm import _featherstorm
from featherstorm.__main__ import main
from featherstorm.commands.report import measure

VOID = {"meta", "br", "hr", "img", "input", "link", "col"}


class Page(html.parser.HTMLParser):
    """Collects elements, tables and text; fails on tags that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.tables, self.headings = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append({"caption": "", "rows": []})
        if tag == "tr":
            self.tables[-1]["rows"].append([])
        if tag in ("th", "td"):
            self.tables[-1]["rows"][-1].append([tag, dict(attributes).get("scope"), ""])

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open:
            return
        if self.open[-1] == "caption":
            self.tables[-1]["caption"] += data
        if self.open[-1] in ("th", "td"):
            self.tables[-1]["rows"][-1][-1][2] += data
        if self.open[-1] == "h2":
            self.headings.append(data)


def written(folder, *arguments):
    file = folder / "page.html"
    assert main(["bench", "--report", str(file), "--quick", "--robot", "double_pendulum", *arguments]) == 0
    return file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return written(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def column(table, head):
    at = [cell[2] for cell in table["rows"][0]].index(head)
    return [row[at][2] for row in table["rows"][1:]]


def table_of(page, caption):
    (found,) = [t for t in page.tables if caption in t["caption"]]
    return found


def test_has_every_section(page):
    for heading in (
        "Machine",
        "batch size",
        "degrees of freedom",
        "All operations of double_pendulum",
        "Simulation",
        "Derivatives",
        "Parameters",
        "Other libraries",
    ):
        assert any(heading in found for found in page.headings), heading


def test_needs_nothing_beside_it(text, page):
    assert "//" not in re.sub(r"<desc.*?</desc>", "", text)  # neither a scheme nor a protocol-relative address
    assert not {tag for tag, _ in page.elements} & {"script", "link", "img", "iframe", "object", "image"}
    for _, attributes in page.elements:
        for name in ("src", "href", "xlink:href", "srcset", "action"):
            assert attributes.get(name, "#").startswith("#")
    assert "@import" not in text and "@font-face" not in text
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", text))


def test_names_of_elements_differ_and_references_have_targets(text, page):
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(names) == len(set(names))
    used = re.findall(r"url\(#([^)]*)\)", text) + [a["href"][1:] for _, a in page.elements if "href" in a]
    used += [name for _, a in page.elements for name in a.get("aria-labelledby", "").split()]
    assert used and set(used) <= set(names)


def test_tables_have_headers(page):
    assert len(page.tables) >= 7
    for table in page.tables:
        assert table["caption"]
        head, *body = table["rows"]
        assert body and all(tag == "th" and scope == "col" and text for tag, scope, text in head)
        for row in body:
            assert len(row) == len(head), table["caption"]
            assert row[0][:2] == ["th", "row"] and all(tag == "td" for tag, *_ in row[1:])


def test_numbers_are_finite(page):
    for table in page.tables[1:]:
        numbers = [cell for row in table["rows"][1:] for _, _, cell in row[1:]]
        assert not [cell for cell in numbers if re.search(r"\b(nan|inf|None)\b", cell)]
        assert any(re.fullmatch(r"[\d.,e+-]+", cell) for cell in numbers)
    for caption, heads in {
        "by batch size": ("ns per evaluation", "million per second"),
        "double_pendulum: nanoseconds": ("float32, ns", "float64, ns"),
        "Simulation.step": ("ns per step", "million steps per second"),
        "Derivatives beside": ("vjp, ns", "jvp, ns", "over itself"),
        "what parameters cost": ("constants, ns", "over constants"),
    }.items():
        for head in heads:
            values = [float(cell.replace(",", "")) for cell in column(table_of(page, caption), head)]
            assert values and all(math.isfinite(x) and x > 0 for x in values), (caption, head)


def test_tables_are_complete(page):
    from featherstorm import load

    assert len(column(table_of(page, "double_pendulum: nanoseconds"), "operation")) == len(load("double_pendulum").ops)
    assert column(table_of(page, "Simulation.step"), "not finite") == ["0", "0"]
    assert set(column(table_of(page, "by batch size"), "dtype")) == {"float32", "float64"}


def test_figures_are_named(page):
    figures = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert len(figures) == 3
    assert all(a["role"] == "img" and a["aria-labelledby"] for a in figures)
    assert sum(tag == "desc" for tag, _ in page.elements) == 3
    # colours come from the page's style, so that they change with light and dark
    assert not [a["style"] for _, a in page.elements if re.search("stroke: #|fill: #0", a.get("style", ""))]


def test_peers_of_a_file(tmp_path):
    times = [
        {"library": library, "kind": "rnea", "median": median}
        for library, median in (("pinocchio/a", 500.0), ("pinocchio/b", 400.0), ("featherstorm/double/assembled", 20.0))
    ]
    record = {"machine": "m", "date": "d", "commit": "c", "robots": {"iiwa14": {"times": times}}}
    file = tmp_path / "peers.json"
    file.write_text(json.dumps(record))
    page = Page(written(tmp_path, "--peers", str(file)))
    (table,) = [t for t in page.tables if t["caption"] == "Nanoseconds per evaluation"]
    assert [cell for _, _, cell in table["rows"][1]] == ["inverse dynamics: iiwa14", "400", "-", "20.0", "-", "20.0"]


@pytest.mark.parametrize(("content", "message"), [("{", "is not JSON"), ("{}", "has no machine")])
def test_refuses_other_files(tmp_path, capsys, content, message):
    file = tmp_path / "peers.json"
    file.write_text(content)
    assert main(["bench", "--report", str(tmp_path / "a.html"), "--quick", "--peers", str(file)]) == 1
    assert message in capsys.readouterr().err
    assert main(["bench", "--report", "/no/such/folder/a.html"]) == 1
    assert "there is no folder /no/such/folder" in capsys.readouterr().err


def test_wrong_answers_stop_it(tmp_path, capsys, monkeypatch):
    right = measure.Case.answers
    monkeypatch.setattr(
        measure.Case, "answers", lambda case: [x + (case.model.specialised(case.op)) for x in right(case)]
    )
    assert main(["bench", "--report", str(tmp_path / "a.html"), "--quick", "--robot", "double_pendulum"]) == 1
    assert "from the kernels for any robot in float64; nothing was written" in capsys.readouterr().err
    assert not (tmp_path / "a.html").exists()


def test_rounds_time_what_they_say():
    now = [0]

    def job(cost):
        def run():
            now[0] += cost

        return run

    plan = {"repeats": 3, "sample": 1e-6}
    times = measure.rounds([job(100), job(400)], plan, clock=lambda: now[0])
    assert [t["median"] for t in times] == [100, 400] and all(t["low"] == t["high"] for t in times)


def test_without_other_libraries(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    text = written(tmp_path)
    assert "Pinocchio is not installed here" in text
    Page(text)


@pytest.mark.parametrize("robot", ["go2", "iiwa14"])
def test_pinocchio_is_compared_before_it_is_timed(robot, monkeypatch):
    pytest.importorskip("pinocchio")
    plan = {"instances": 8, "repeats": 2, "sample": 1e-5}
    assert [what for what, *_ in measure.here(robot, plan)] == [
        "inverse dynamics",
        "inertia matrix",
        "forward dynamics",
    ]
    monkeypatch.setattr(measure, "crba", lambda model, q, crba=measure.crba: 1.001 * crba(model, q))
    with pytest.raises(ValueError, match="inertia matrices of Pinocchio and ours differ"):
        measure.here(robot, plan)


def test_a_robot_of_a_file(tmp_path):
    file = os.path.join(_featherstorm.robot_directory(), "cartpole.urdf")
    assert main(["bench", "--report", str(tmp_path / "a.html"), "--quick", "--robot", file]) == 0
    text = (tmp_path / "a.html").read_text()
    assert "All operations of cartpole" in text and len(Page(text).tables) >= 7
