import type { Action, EngineFault, Schedule } from '../schedule.ts';

/** An engine that runs for several schedules, with a separate store for each. */
export interface Engine {
  /** The things that this machine lacks for some of the faults, one line each. */
  readonly lacks: readonly string[];
  /** Makes everything run, and returns the address of a new store. */
  begin(schedule: Schedule): Promise<string>;
  /** Resolves when the fault is over. False: this machine cannot do it. */
  perform(fault: Fault): Promise<boolean>;
  /** Makes everything run again. */
  heal(): Promise<void>;
  /** Removes the store of the schedule. */
  end(): Promise<void>;
  close(): Promise<void>;
}

export type Fault = Extract<Action, { kind: EngineFault }>;

/** Faults of a disk, by the names of the schedule. */
export const isOfDisk = (kind: EngineFault): boolean => kind.startsWith('disk.');
