#!/usr/bin/env python3
"""USD ASCII and RIB files, read by grammar: read_scene_files.py ABUT SOURCE FOLDER

Records the scenes named below, exports them, and reads what was written with parsers that know nothing of abut: every token of a .usda
must fit the grammar of layers (header, metadata, prims, properties, time samples), every request of a .rib the list of RenderMan Interface
requests with the arguments they take; references must name prims that exist, indices points that exist, blocks must close.  Numbers are
then held against `abut export --to csv`.  Exit 1 with the place where something does not fit."""
import csv
import math
import pathlib
import re
import subprocess
import sys

abut, source, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)


class Tokens:
    def __init__(self, path, pattern):
        self.path, self.text, self.at, self.list = path, path.read_text(), 0, []
        at = 0
        while at < len(self.text):
            match = pattern.match(self.text, at)
            if not match:
                self.fail(f"no token at {self.text[at:at + 40]!r}", at)
            if match.lastgroup != "space":
                self.list.append((match.lastgroup, match.group(match.lastgroup), at))
            at = match.end()
        self.list.append(("end", "", at))

    def fail(self, what, at=None):
        at = self.list[self.at][2] if at is None else at
        raise SystemExit(f"{self.path}:{self.text.count(chr(10), 0, at) + 1}: {what}")

    def kind(self):
        return self.list[self.at][0]

    def next(self, kind=None, text=None):
        found, word, _ = self.list[self.at]
        if (kind and found != kind) or (text and word != text):
            self.fail(f"{word!r} where {text or kind} belongs")
        self.at += 1
        return word

    def takes(self, text):
        if self.list[self.at][1] == text and self.kind() in ("mark", "word"):
            self.at += 1
            return True
        return False


# ---- USD ASCII

USD = re.compile(r'(?P<space>[ \t\r\n]+|#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<path><[^>\n]*>)|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)'
                 r'|(?P<word>[A-Za-z_][\w:.]*)|(?P<mark>[()\[\]{}=,:])')
TYPES = {"token": 0, "string": 0, "bool": 1, "int": 1, "float": 1, "double": 1, "float2": 2, "float3": 3, "point3f": 3, "normal3f": 3, "color3f": 3,
         "double3": 3, "quatf": 4, "quatd": 4, "matrix4d": 16, "rel": 0}
PRIMS = {"Xform", "Mesh", "Scope", "Camera", "SphereLight", "DistantLight", "DomeLight", "Material", "Shader", "Sphere", "Cylinder", "Cube", ""}


class Usd:
    def __init__(self, path):
        if not path.read_text().startswith("#usda 1.0\n"):
            raise SystemExit(f"{path}:1: the header is missing")
        self.t, self.prims, self.references = Tokens(path, USD), {}, []
        self.metadata = self.dictionary()
        while self.t.kind() != "end":
            self.prim("")
        for at, target in self.references:
            if target not in self.prims:
                self.t.fail(f"reference to {target}, which does not exist", at)
        if self.metadata.get("defaultPrim") and "/" + self.metadata["defaultPrim"] not in self.prims:
            self.t.fail("defaultPrim does not exist")

    def value(self):
        t = self.t
        if t.takes("("):
            out = [self.value()]
            while t.takes(","):
                out.append(self.value())
            t.next("mark", ")")
            return tuple(out)
        if t.takes("["):
            out = []
            while not t.takes("]"):
                out.append(self.value())
                if not t.takes(","):
                    t.next("mark", "]")
                    break
            return out
        if t.kind() == "number":
            return float(t.next())
        if t.kind() == "string":
            return t.next()[1:-1]
        if t.kind() == "path":
            return t.next()[1:-1]
        return t.next("word")

    def dictionary(self):
        out = {}
        if not self.t.takes("("):
            return out
        while not self.t.takes(")"):
            if self.t.kind() == "string":
                out["comment"] = self.t.next()
                continue
            name = self.t.next("word")
            if name in ("prepend", "append", "delete", "add"):
                name = self.t.next("word")
            self.t.next("mark", "=")
            at = self.t.list[self.t.at][2]
            out[name] = self.braces() if self.t.list[self.t.at][1] == "{" else self.value()
            if name == "references":
                self.references += [(at, x) for x in (out[name] if isinstance(out[name], list) else [out[name]])]
        return out

    def braces(self):
        out = {}
        self.t.next("mark", "{")
        while not self.t.takes("}"):
            kind, name = self.t.next("word"), self.t.next()
            self.t.next("mark", "=")
            out[name] = self.braces() if kind == "dictionary" else self.value()
        return out

    def prim(self, above):
        t = self.t
        specifier = t.next("word")
        if specifier not in ("def", "class", "over"):
            t.fail(f"{specifier!r} is no prim")
        kind = t.next("word") if t.kind() == "word" else ""
        if kind not in PRIMS:
            t.fail(f"there is no prim of type {kind}")
        name = t.next("string")[1:-1]
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            t.fail(f"{name!r} is no name of a prim")
        path = f"{above}/{name}"
        if path in self.prims:
            t.fail(f"{path} stands twice")
        self.prims[path] = properties = {}
        properties["()"] = self.dictionary()
        t.next("mark", "{")
        while not t.takes("}"):
            if t.list[t.at][1] in ("def", "class", "over"):
                self.prim(path)
            else:
                self.property(properties)
        self.check_mesh(kind, properties)

    def property(self, properties):
        t = self.t
        while t.list[t.at][1] in ("uniform", "custom", "prepend"):
            t.next()
        kind = t.next("word")
        array = t.takes("[")
        if array:
            t.next("mark", "]")
        if kind not in TYPES:
            t.fail(f"there is no type {kind}")
        name = t.next("word")
        if not t.takes("="):
            properties.setdefault(name, None)
            return
        if name.endswith(".timeSamples"):
            samples = self.samples(kind, array)
            properties[name] = samples
        else:
            value = self.value()
            self.check(kind, array, value)
            properties[name] = value
        self.dictionary()

    def samples(self, kind, array):
        t, out, last = self.t, [], -math.inf
        t.next("mark", "{")
        while not t.takes("}"):
            time = float(t.next("number"))
            if not time > last:
                t.fail(f"time {time} after {last}")
            last = time
            t.next("mark", ":")
            value = self.value()
            self.check(kind, array, value)
            out.append((time, value))
            if not t.takes(","):
                t.next("mark", "}")
                break
        return out

    def check(self, kind, array, value):
        size = TYPES[kind]
        for v in value if array else [value]:
            flat = [x for row in v for x in (row if isinstance(row, tuple) else (row,))] if isinstance(v, tuple) else [v]
            if size and (len(flat) != size or not all(isinstance(x, float) and math.isfinite(x) for x in flat)):
                self.t.fail(f"{value!r:.80} is no {kind}")
            if not size and not isinstance(v, str):
                self.t.fail(f"{v!r} is no {kind}")

    def check_mesh(self, kind, p):
        if kind != "Mesh" or "points" not in p:
            return
        counts, indices, points = p["faceVertexCounts"], p["faceVertexIndices"], p["points"]
        if sum(counts) != len(indices) or (indices and not 0 <= min(indices) <= max(indices) < len(points)):
            self.t.fail("faces name points that are not there")
        low, high = p["extent"]
        if any(not low[k] - 1e-6 <= x[k] <= high[k] + 1e-6 for x in points for k in range(3)):
            self.t.fail("points outside of the extent")


# ---- RIB: each request with its arguments (s string, n number, a array, * a list of parameters)

RIB = re.compile(r'(?P<space>[ \t\r\n]+|#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])'
                 r'|(?P<word>[A-Za-z]\w*)|(?P<mark>[\[\]])')
REQUESTS = {"version": "n", "FrameBegin": "n", "FrameEnd": "", "WorldBegin": "", "WorldEnd": "", "AttributeBegin": "", "AttributeEnd": "",
            "TransformBegin": "", "TransformEnd": "", "Display": "sss*", "Format": "nnn", "PixelSamples": "nn", "ShadingRate": "n", "Projection": "s*",
            "Sides": "n", "ConcatTransform": "a", "Transform": "a", "Translate": "nnn", "Rotate": "nnnn", "Scale": "nnn", "LightSource": "sn*",
            "Surface": "s*", "Attribute": "s*", "Color": "a", "Opacity": "a", "Basis": "snsn", "Orientation": "s", "Clipping": "nn",
            "Sphere": "nnnn*", "Cylinder": "nnnn*", "Cone": "nnn*", "Disk": "nnn*", "Hyperboloid": "aan*", "Polygon": "*", "PointsPolygons": "aa*",
            "PointsGeneralPolygons": "aaa*", "Patch": "s*", "PatchMesh": "snsns*", "Declare": "ss"}
PAIRS = {"FrameBegin": "FrameEnd", "WorldBegin": "WorldEnd", "AttributeBegin": "AttributeEnd", "TransformBegin": "TransformEnd"}


def read_rib(path):
    t, open_blocks, transforms = Tokens(path, RIB), [], []

    def array():
        out = []
        t.next("mark", "[")
        while not t.takes("]"):
            out.append(float(t.next()) if t.kind() == "number" else t.next("string"))
        return out

    def parameters():
        out = {}
        while t.kind() == "string":
            name = t.next()[1:-1]
            out[name] = array() if t.list[t.at][1] == "[" else [t.next()]
        return out
    while t.kind() != "end":
        name = t.next("word")
        if name not in REQUESTS:
            t.fail(f"there is no request {name}")
        given = [t.next("string") if a == "s" else float(t.next("number")) if a == "n" else array() if a == "a" else parameters() for a in REQUESTS[name]]
        if name in PAIRS:
            open_blocks.append(PAIRS[name])
        elif name in PAIRS.values() and (not open_blocks or open_blocks.pop() != name):
            t.fail(f"{name} closes nothing")
        if name in ("ConcatTransform", "Transform") and len(given[0]) != 16:
            t.fail("a matrix has 16 numbers")
        if name in ("Color", "Opacity") and len(given[0]) != 3:
            t.fail("a colour has 3 numbers")
        if name == "PointsGeneralPolygons":
            loops, counts, indices, rest = given
            points = len(rest["P"]) / 3
            if sum(loops) != len(counts) or sum(counts) != len(indices) or not 0 <= min(indices) <= max(indices) < points or points % 1:
                t.fail("polygons name points that are not there")
            if "N" in rest and len(rest["N"]) != len(rest["P"]):
                t.fail("there are not as many normals as points")
        if name == "Patch" and len(given[1].get("P", given[1].get("Pw", []))) not in (48, 64):
            t.fail("a bicubic patch has 16 points")
        if name == "ConcatTransform":
            transforms.append(given[0])
    if open_blocks:
        t.fail(f"{open_blocks[-1]} is missing")
    return transforms


# ---- against the recording

def run(*words):
    subprocess.run([abut, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


for name in ("demo", "rattleback", "chair"):
    recording, usda, tracks = folder / f"{name}.abut", folder / f"{name}.usda", folder / f"{name}.csv"
    run("run", source / "scenes" / f"{name}.lua", "-o", recording, "--duration", "0.5", "-q")
    for format, out in (("usda", usda), ("csv", tracks), ("rib", folder / f"{name}.####.rib")):
        run("export", recording, "--to", format, "-o", out, *(["--every", "10"] if format == "rib" else []))
    layer, table = Usd(usda), rows(tracks)
    bodies = {r["body"]: [s for s in table if s["body"] == r["body"]] for r in table}
    moved = 0
    for body, track in bodies.items():
        path = next((p for p in layer.prims if p.rsplit("/", 1)[1] == re.sub(r"\W", "_", body)), None)
        assert path, f"{usda}: no prim for {body}"
        samples = next((v for k, v in layer.prims[path].items() if k.startswith("xformOp:orient") and k.endswith("timeSamples")), None)
        if not samples:
            continue
        moved += 1
        assert len(samples) == len(track), f"{usda}: {len(samples)} samples of {body}, {len(track)} frames"
        for (time, q), row in zip(samples, track):
            want = tuple(float(row[k]) for k in ("qw", "qx", "qy", "qz"))
            # of two signs, and made unit again: a last digit
            assert any(all(abs(x - sign * y) <= 4e-16 for x, y in zip(q, want)) for sign in (1, -1)), f"{usda}: {body} at {time}: {q} is not {want}"
    assert moved > 0
    files = sorted(folder.glob(f"{name}.*.rib"))
    assert files
    for file in files:
        read_rib(file)
    print(f"{name}: {len(layer.prims)} prims, {moved} bodies that move, {len(files)} files of RIB")
