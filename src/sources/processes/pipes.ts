/**
 * Makes pipes like those of a shell. Node connects a child process with sockets. With a socket, a script that writes to
 * `/dev/stderr` fails, and a program whose reader has closed gets an error instead of the signal SIGPIPE. So these pipes are
 * FIFOs, whose names are deleted once the pipes are open.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/**
 * A pipe. `write` is for the child. This process must close `write` after the child has started, so that `read` ends when the
 * child closes its copy.
 */
export type Pipe = { readonly read: Readable; readonly write: number };

/** Makes pipes; returns undefined if `mkfifo` or a folder for the FIFOs is missing. */
export function makePipes(count: number): readonly Pipe[] | undefined {
  let folder: string | undefined;
  const open: number[] = [];
  const keep = (fd: number): number => {
    open.push(fd);
    return fd;
  };
  try {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-pipe-'));
    const names = Array.from({ length: count }, (_, i) => join(folder ?? '', String(i)));
    execFileSync('mkfifo', ['-m', '600', ...names], { stdio: 'ignore' });
    return names.map((name) => {
      // Opening a FIFO for writing waits for a reader, so the reader is opened first, without blocking. The child gets a blocking
      // writer, as it expects.
      const fd = keep(openSync(name, constants.O_RDONLY | constants.O_NONBLOCK));
      const write = keep(openSync(name, constants.O_WRONLY));
      return { read: new Socket({ fd, readable: true, writable: false }), write };
    });
  } catch {
    for (const fd of open) closeSync(fd);
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}
