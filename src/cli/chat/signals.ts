/** Listens for the signals that ask a conversation to end. */

/** The exit codes: 128 plus the number of the signal, as in shells. */
export const SIGNAL_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type EndSignal = keyof typeof SIGNAL_CODES;

/** Calls `tell` for each of these signals. Until the caller disposes of the result, the signals do not end the process. */
export function onSignals(tell: (signal: EndSignal) => void): Disposable {
  const listeners = (Object.keys(SIGNAL_CODES) as EndSignal[]).map((signal) => {
    const listener = (): void => tell(signal);
    process.on(signal, listener);
    return [signal, listener] as const;
  });
  return {
    [Symbol.dispose]: () => {
      for (const [signal, listener] of listeners) process.off(signal, listener);
    },
  };
}

/** Calls `gone` when the reader of stdout has closed the pipe. */
export function onReaderGone(gone: (error: NodeJS.ErrnoException) => void): Disposable {
  const listener = (error: NodeJS.ErrnoException): void => gone(error);
  process.stdout.on('error', listener);
  return { [Symbol.dispose]: () => void process.stdout.off('error', listener) };
}
