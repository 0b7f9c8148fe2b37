/**
 * Shifts the clock of the process that preloads this file (`NODE_OPTIONS`) by `CLOCK_OFF_BY_MS`, but not the clock of the
 * kernel or of another process.
 */
const offMs = Number(process.env['CLOCK_OFF_BY_MS'] ?? 0);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + offMs);
    else super(...(given as [number]));
  }

  static override now(): number {
    return RealDate.now() + offMs;
  }
} as DateConstructor;
