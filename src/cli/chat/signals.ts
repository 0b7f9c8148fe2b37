/** Signals that ask a conversation to end. */

/** 128 and the number of the signal, as shells have it. */
export const SIGNAL_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export type EndSignal = keyof typeof SIGNAL_CODES;

/** Until disposed of, calls `tell` for these signals instead of ending the process. */
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

/** Calls `gone` when nobody reads stdout any more. */
export function onReaderGone(gone: (error: NodeJS.ErrnoException) => void): Disposable {
  const listener = (error: NodeJS.ErrnoException): void => gone(error);
  process.stdout.on('error', listener);
  return { [Symbol.dispose]: () => void process.stdout.off('error', listener) };
}
