import { starterOf } from '../inbox/index.ts';

/**
 * The process of a stdio client. The client may start the gateway through a shell or a launcher such as `npx`, which may continue
 * after the client has died. So this class watches the gateway's parent, and the nearest ancestor that is neither a shell nor a
 * launcher.
 */
export class ClientProcess {
  readonly #parent = process.ppid;
  readonly #starter = starterOf()?.pid;

  get hasDied(): boolean {
    if (process.ppid !== this.#parent) return true;
    return this.#starter !== undefined && this.#starter !== this.#parent && !exists(this.#starter);
  }

  /**
   * Whether the client has died. The kernel closes the pipes of a killed process some microseconds before its children get
   * another parent. So this method checks for up to 20 ms.
   */
  hasJustDied(): boolean {
    const waiting = new Int32Array(new SharedArrayBuffer(4));
    for (let tries = 0; tries < 10 && !this.hasDied; tries++) Atomics.wait(waiting, 0, 0, 2);
    return this.hasDied;
  }
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
