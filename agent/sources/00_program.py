#!/usr/bin/env python3
"""The sealoop device agent: runs a command only if the public ledger proves that it was issued.

usage: python3 -I sealoop_agent.py COMMAND [--state FOLDER] [--user]

  enroll --server URL --code-file FILE --pins FILE [--name NAME] [--replaces DEV-…]   make this machine a device
         [--proxy http://HOST:PORT]   how the platform is reached, now and later; proxies of the environment are ignored
  run                            talk to the platform and run commands, in the foreground
  status                         what is pinned, accepted, running and waiting
  verify-bundle COMMAND_ID|FILE  what was approved, what ran, and the ids of its receipts
  release SEQ COMMAND_SEQUENCE   go on after the journal was rolled back, from numbers that the platform knows
  firewall RULES                 put nft rules in force, and take them back unless the platform is still reachable
  scan --targets LIST --ports LIST   find hosts by TCP connections and the neighbour table
  reach --targets LIST           measure how long TCP connections to ADDRESS:PORT take
  upgrade --sha256 HEX           replace this program by the one that the platform serves, if it has this hash
  check-folder FOLDER            tell whether the agent may be installed there: as root, in a folder of root's alone
  uninstall --yes                remove the agent's files from this machine

--user: talking and running are one user, so nothing protects the results from the talking half.
Needs Python 3.6 or later on Linux or macOS, and nothing else.
"""
import sys

if sys.platform not in ("linux", "darwin"):
    sys.exit("sealoop-agent: Cannot run on %s: the agent runs on Linux and macOS only" % sys.platform)

import argparse
import base64
import calendar
import collections
import concurrent.futures
import ctypes
import errno
import fcntl
import glob
import hashlib
import http.client
import ipaddress
import json
import os
import platform
import pwd
import queue
import random
import re
import resource
import select
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import threading
import time
import urllib.parse

VERSION = "1.0.0"

# Why a command was not run. The platform's list is contract/domain/devices.ts; a test holds them equal.
REFUSALS = (
    "bad_shape",
    "checkpoint_signature",
    "checkpoint_quorum",
    "checkpoint_older",
    "checkpoint_inconsistent",
    "record_invalid",
    "succession_invalid",
    "not_included",
    "commitment_mismatch",
    "other_device",
    "sequence_used",
    "expired",
    "wrong_receipt",
    "approval_missing",
    "out_of_bounds",
    "journal_rolled_back",
)

MAX_LINE = 2 * 1024 * 1024
MAX_DEPTH = 64
MAX_DIGITS = 4300
MAX_RECORDS = 16
MAX_HASHES = 64
MAX_APPROVALS = 16
MAX_ARGUMENTS = 256
MAX_ARGUMENT_BYTES = 65536
MAX_TIMEOUT_SECONDS = 86400
MAX_OUTPUT_BYTES = 262144
MAX_RUNNING = 4
MAX_WAITING_STATEMENTS = 1000
MAX_KEPT_COMMANDS = 1000
MAX_SCANNED_ADDRESSES = 1024
MAX_SCANNED_PORTS = 64

COMMAND_ID = re.compile(r"CMD-[0-9a-f]{12}")
USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")
HEX_64 = re.compile(r"[0-9a-f]{64}")
HEX_128 = re.compile(r"[0-9a-f]{128}")


class Refusal(Exception):
    """A bundle that must not be run: a code of REFUSALS, and why in words."""

    def __init__(self, code, reason):
        super().__init__(reason)
        self.code = code


class AgentError(Exception):
    """The agent can't do what a person asked for; the message says why and what would work."""


# Commands of this program by their names.
COMMANDS = {}
Command = collections.namedtuple("Command", "work arguments is_remote")


def argument(name, **settings):
    """Returns an argument of a command, as argparse takes it."""
    return name, settings


def subcommand(name, *arguments, is_remote=False):
    """Makes a function a command of this program. A person gives it, on this machine; a remote one may come from afar."""
    def register(work):
        COMMANDS[name] = Command(work, arguments, is_remote)
        return work
    return register


