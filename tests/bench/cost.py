# SPDX-License-Identifier: GPL-2.0-only
"""What a command costs: CPU time of all its processes, memory of their own."""
import os
import re
import subprocess
import threading
import time


class Memory(threading.Thread):
    """The most RssAnon, in kB, that a process and its children had."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.stop = pid, 0, False

    def tree(self):
        pids = [self.pid]
        try:
            with open("/proc/%d/task/%d/children" % (self.pid, self.pid)) as f:
                pids += [int(p) for p in f.read().split()]
        except OSError:
            pass
        return pids

    def run(self):
        while not self.stop:
            total = 0
            for pid in self.tree():
                try:
                    with open("/proc/%d/status" % pid) as f:
                        found = re.search(r"RssAnon:\s*(\d+)", f.read())
                    total += int(found.group(1)) if found else 0
                except OSError:
                    pass
            self.most = max(self.most, total)
            time.sleep(0.005)


def cost(command):
    """(CPU seconds, peak RssAnon in kB); output is thrown away."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    memory = Memory(process.pid)
    memory.start()
    _, status, usage = os.wait4(process.pid, 0)
    memory.stop = True
    memory.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime, memory.most
