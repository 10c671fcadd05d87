"""Attacks a gateway of this machine and says what each attack came to: `deploy/attack --help`."""

import argparse
import json
import sys
import time
import traceback

from attacks import ALL
from gateway import Gateway, raise_descriptor_limit
from soak import soak


def main():
    parser = argparse.ArgumentParser(prog="deploy/attack", description=__doc__)
    parser.add_argument("--program", required=True, help="path of the footlight program")
    parser.add_argument("--times", type=int, default=1, help="runs of each attack")
    parser.add_argument("--descriptors", type=int, help="open files that the gateway may have, for the attack on them")
    parser.add_argument("--list", action="store_true", help="name the attacks and what they do")
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="a show under one attack or fault after the other")
    parser.add_argument("names", nargs="*", help="the attacks; all of them where none is named")
    arguments = parser.parse_args()
    if arguments.list:
        for name, (_, description, _) in ALL.items():
            print(f"{name:16} {description}")
        return 0
    raise_descriptor_limit()
    if arguments.soak:
        return 0 if soak(arguments.program, arguments.soak * 60) else 1
    unknown = set(arguments.names) - set(ALL)
    if unknown:
        parser.error("no such attack: " + ", ".join(sorted(unknown)))
    harmful = []
    for name in arguments.names or ALL:
        run, description, settings = ALL[name]
        settings = dict(settings)
        if arguments.descriptors and "descriptors" in settings:
            settings["descriptors"] = arguments.descriptors
        print(f"\n{name}: {description}", flush=True)
        for _ in range(arguments.times):
            begin = time.monotonic()
            gateway = Gateway(arguments.program, **settings)
            try:
                figures, is_harmless = run(gateway)
            except Exception:
                traceback.print_exc()
                print(gateway.tail())
                figures, is_harmless = {}, False
            finally:
                gateway.end()
            if not is_harmless:
                harmful.append(name)
            verdict = "harmless" if is_harmless else "HARMFUL"
            print(f"  {verdict}, {time.monotonic() - begin:.0f} s: {json.dumps(figures)}", flush=True)
    print()
    print("no attack did harm" if not harmful else "harm was done by: " + ", ".join(sorted(set(harmful))))
    return 1 if harmful else 0


sys.exit(main())
