# SPDX-License-Identifier: BSD-3-Clause
"""Line plots as SVG, made by hand so that equal numbers give equal files.

What contains measured time has class "timed", an element a line, so that the rest can be compared.
"""

import math

WIDTH, HEIGHT = 800, 400
LEFT, RIGHT, TOP, BOTTOM = 62, 200, 34, 46
COLOURS = (
    "#000000",
    "#0044bb",
    "#00aacc",
    "#dd2222",
    "#228833",
    "#ccaa22",
    "#44bbdd",
    "#aa3377",
    "#ee8833",
    "#777777",
    "#88bb22",
    "#7755cc",
)
MARKS = ("circle", "square", "triangle", "diamond")


def escape(text):
    """For XML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def nice_step(largest):
    """A step of 1, 2 or 5 times a power of ten that divides the axis in 4 to 8."""
    rough = largest / 6 if largest > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1, 2, 5, 10):
        if factor * power >= rough:
            return factor * power
    return 10 * power


def mark(shape, x, y, colour, extra):
    """A mark around a point; those of baselines are hollow, so that one shows what it covers."""
    fill = f'fill="white" stroke="{colour}" stroke-width="1.5"{extra}/>'
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" {fill}'
    corners = {
        "square": ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
        "triangle": ((0, -6), (6, 4.5), (-6, 4.5)),
        "diamond": ((0, -6.5), (6.5, 0), (0, 6.5), (-6.5, 0)),
        "full": ((-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)),
    }[shape]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    if shape == "full":
        fill = f'fill="{colour}"{extra}/>'
    return f'<polygon points="{points}" {fill}'


def text(x, y, words, anchor="middle", size=12, extra=""):
    """A text element."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{extra}>'
        f"{escape(words)}</text>"
    )


class Plot:
    """Lines over named places along x, values from 0 along y."""

    def __init__(self, title, x_title, y_title, places):
        self.title, self.x_title, self.y_title = title, x_title, y_title
        self.places = places
        self.lines = []

    def add(self, name, values, dashed=False, timed=False):
        """A line; None leaves a place out."""
        self.lines.append((name, values, dashed, timed))

    def x(self, index):
        """Of a place."""
        span = max(1, len(self.places) - 1)
        return LEFT + (WIDTH - LEFT - RIGHT) * index / span

    def axes(self, most, step):
        """Frame, grid and labels."""
        parts = [text((LEFT + WIDTH - RIGHT) / 2, 20, self.title, size=14)]
        floor = HEIGHT - BOTTOM
        for k in range(int(most / step + 1e-9) + 1):
            y = floor - (floor - TOP) * k * step / most
            parts.append(
                f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" '
                'stroke="#dddddd"/>'
            )
            parts.append(text(LEFT - 6, y + 4, f"{k * step:g}", "end"))
        for index, place in enumerate(self.places):
            parts.append(text(self.x(index), floor + 18, place, size=11))
        parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, self.x_title))
        middle = (TOP + floor) / 2
        turn = f' transform="rotate(-90 16 {middle:.1f})"'
        parts.append(text(16, middle, self.y_title, extra=turn))
        return parts

    def draw_line(self, number, most):
        """A polyline with dots and its name at the right."""
        name, values, dashed, timed = self.lines[number]
        colour = COLOURS[number % len(COLOURS)]
        floor = HEIGHT - BOTTOM
        dots = [
            (self.x(index), floor - (floor - TOP) * value / most)
            for index, value in enumerate(values)
            if value is not None
        ]
        is_ours = name.startswith("ours")
        shape = "full" if is_ours else MARKS[number % len(MARKS)]
        style = f' stroke-width="{3.5 if is_ours else 1.8}"'
        style += ' stroke-dasharray="7 4"' if dashed else ""
        extra = ' class="timed"' if timed else ""
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
        parts = [f'<polyline points="{points}" fill="none" stroke="{colour}"{style}{extra}/>']
        if not dashed:
            parts += [mark(shape, x, y, colour, extra) for x, y in dots]
        y = TOP + 8 + 18 * number
        x = WIDTH - RIGHT + 14
        parts.append(
            f'<line x1="{x}" y1="{y - 4}" x2="{x + 22}" y2="{y - 4}" stroke="{colour}"{style}/>'
        )
        if not dashed:
            parts.append(mark(shape, x + 11, y - 4, colour, ""))
        parts.append(text(x + 28, y, name, "start"))
        return parts

    def svg(self):
        """The whole file."""
        largest = max(
            (v for _, values, _, _ in self.lines for v in values if v is not None), default=1
        )
        step = nice_step(largest)
        most = step * math.ceil(largest / step + 1e-9)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        ]
        parts += self.axes(most, step)
        # Ours and the bound, which come first, lie on top.
        for number in reversed(range(len(self.lines))):
            parts += self.draw_line(number, most)
        return "\n".join([*parts, "</svg>", ""])


def plot_rows(title, x_title, rows, places, names):
    """Bandwidth of ours, of the named baselines and of the bound over the rows' places."""
    plot = Plot(title, x_title, "GB/s per rank", places)
    plot.add("fluid bound", [row.rate(row.fluid_ns) for row in rows], dashed=True)
    plot.add("ours, transfer", [row.rate(row.transfer_ns) for row in rows])
    plot.add("ours, modelled planning", [row.rate(row.modelled_ns) for row in rows])
    plot.add("ours, charged", [row.rate(row.charged_ns) for row in rows], timed=True)
    for name in names:
        plot.add(name, [row.rate(row.times[name]) for row in rows])
    return plot.svg()
