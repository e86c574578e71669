#!/usr/bin/env python3
"""Writes seeds for fuzz_build into the folder given: a cube, a cube of triangles, a tetrahedron, a prism with a window
(keyhole caps), each as the bytes that fuzz_build.c decodes."""
import pathlib, sys


def encode(points, faces, head=0):
    out = bytes([head, len(points) - 1])
    out += bytes(c + 4 for p in points for c in p)
    for face in faces:
        out += bytes([len(face) - 3]) + bytes(face)
    return out


CUBE = [(x, y, z) for x in (0, 2) for y in (0, 2) for z in (0, 2)]
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
TRIANGLES = [t for q in QUADS for t in ((q[0], q[1], q[2]), (q[0], q[2], q[3]))]
RING = [(0, 0), (6, 0), (6, 6), (0, 6), (2, 2), (4, 2), (4, 4), (2, 4)]
WINDOW = [(x, y, z) for z in (0, 1) for x, y in RING]
SIDES = [(i, (i + 1) % 4, 8 + (i + 1) % 4, 8 + i) for i in range(4)]
HOLE = [(4 + (i + 1) % 4, 4 + i, 12 + i, 12 + (i + 1) % 4) for i in range(4)]
CAPS = [(8, 9, 10, 11, 8, 12, 15, 14, 13, 12), (0, 3, 2, 1, 0, 4, 5, 6, 7, 4)]
SEEDS = {"cube": encode(CUBE, QUADS), "triangles": encode(CUBE, TRIANGLES), "far": encode(CUBE, TRIANGLES, 5),
         "tetrahedron": encode([(0, 0, 0), (3, 0, 0), (0, 3, 0), (0, 0, 3)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]),
         "window": encode(WINDOW, CAPS + SIDES + HOLE)}

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, seed in SEEDS.items():
    (folder / name).write_bytes(seed)
