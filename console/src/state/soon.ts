/** Runs `work` soon, once for several calls. Calls during a run cause one more run. */
export function soon(work: () => Promise<void>, afterMs: number | (() => number)): { ask(): void; end(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy = false;
  let more = false;
  let over = false;
  const run = async (): Promise<void> => {
    timer = undefined;
    busy = true;
    await work().catch(() => undefined);
    busy = false;
    if (!more) return;
    more = false;
    ask();
  };
  const ask = (): void => {
    if (over || timer !== undefined) return;
    if (busy) more = true;
    else timer = setTimeout(() => void run(), typeof afterMs === 'number' ? afterMs : afterMs());
  };
  return {
    ask,
    end: () => {
      over = true;
      clearTimeout(timer);
    },
  };
}
