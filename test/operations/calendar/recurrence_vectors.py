"""Writes test/vectors/recurrence.json: what python-dateutil makes of random rules. Run it by hand, with dateutil installed.

The start is the first occurrence, as RFC 5545 has it, whether or not the rule gives it. Of a WEEKLY rule with BYSETPOS
dateutil takes the days before the start out of the first week before it counts; such rules begin with their week here.
It wants a day that has a number and one that has none in BYDAY to be both; no rule has both here.
"""
import datetime
import json
import pathlib
import random

from dateutil.rrule import rrulestr

SEED, COUNT, SHOWN = 5545, 300, 8
DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
rng = random.Random(SEED)


def some(values, most=3):
    return rng.sample(list(values), rng.randint(1, most))


def signed(n):
    return rng.choice([1, -1]) * rng.randint(1, n)


def join(values):
    return ",".join(map(str, values))


def random_rule(frequency):
    parts = [f"FREQ={frequency}"]
    if rng.random() < 0.4:
        parts.append(f"INTERVAL={rng.choice([2, 3, 4, 5, 7, 13])}")
    by = []
    numbered = frequency in ("MONTHLY", "YEARLY") and rng.random() < 0.6
    weeks = frequency == "YEARLY" and not numbered and rng.random() < 0.25
    if weeks:
        by.append("BYWEEKNO=" + join(rng.choice([rng.randint(1, 53), -1, -2]) for _ in range(2)))
    if rng.random() < 0.5:
        width = 52 if frequency == "YEARLY" else 5
        by.append("BYDAY=" + join((str(signed(width)) if numbered else "") + day for day in some(DAYS)))
    if frequency != "WEEKLY" and not weeks and rng.random() < 0.3:
        by.append("BYMONTHDAY=" + join(signed(31) for _ in range(rng.randint(1, 4))))
    if rng.random() < 0.3:
        by.append("BYMONTH=" + join(some(range(1, 13), 4)))
    if frequency == "YEARLY" and not weeks and rng.random() < 0.15:
        by.append("BYYEARDAY=" + join(signed(366) for _ in range(3)))
    if by and rng.random() < 0.2:
        by.append("BYSETPOS=" + join(signed(4) for _ in range(2)))
    if rng.random() < 0.2:
        by.append(f"WKST={rng.choice(DAYS)}")
    return parts + by


def starts_of(parts, start, count, until):
    """The start, then what dateutil gives after it."""
    rule = rrulestr(";".join([*parts, "UNTIL=20600101T000000"]), dtstart=start)
    starts = [start]
    for moment in rule:
        if (until and moment > until) or len(starts) >= (count or SHOWN):
            break
        if moment > start:
            starts.append(moment)
    return starts[:SHOWN]


vectors = []
while len(vectors) < COUNT:
    frequency = rng.choice(["DAILY", "WEEKLY", "MONTHLY", "YEARLY", "YEARLY"])
    parts = random_rule(frequency)
    start = datetime.datetime(2027, 1, 1, 9) + datetime.timedelta(days=rng.randint(0, 800))
    if frequency == "WEEKLY" and any(part.startswith("BYSETPOS") for part in parts):
        week_start = next((part[-2:] for part in parts if part.startswith("WKST")), "MO")
        start -= datetime.timedelta(days=(start.weekday() - DAYS.index(week_start)) % 7)
    count, until = None, None
    if rng.random() < 0.3:
        count = rng.randint(1, 6)
    elif rng.random() < 0.3:
        until = start + datetime.timedelta(days=rng.randint(0, 900), hours=rng.choice([0, -1, 1]))
        until = max(until, start)
    try:
        starts = starts_of(parts, start, count, until)
    except IndexError:
        continue  # dateutil fails where a number is beyond the last month's end
    if count:
        parts.append(f"COUNT={count}")
    if until:
        parts.append(f"UNTIL={until:%Y%m%dT%H%M%SZ}")
    vectors.append({"start": f"{start:%Y-%m-%d}", "rrule": ";".join(parts), "starts": [f"{s:%Y-%m-%d}" for s in starts]})

lines = ",\n".join(" " + json.dumps(vector) for vector in vectors)
path = pathlib.Path(__file__).parents[1] / "vectors" / "recurrence.json"
path.write_text(f"[\n{lines}\n]\n")
print(f"seed {SEED}: {len(vectors)} rules, {sum(len(v['starts']) == 1 for v in vectors)} of them give the start alone")
