import type { Action, EngineFault, Schedule } from '../schedule.ts';

/** An engine runs for several schedules and gives each schedule a separate store. */
export interface Engine {
  /** One line for each requirement of a fault that this machine lacks. */
  readonly lacks: readonly string[];
  /** Starts or repairs the servers, and returns the URL or path of a new store. */
  begin(schedule: Schedule): Promise<string>;
  /** Makes the fault. Resolves with true when the fault has ended, and with false if the fault cannot be made. */
  perform(fault: Fault): Promise<boolean>;
  /** Makes the store accept writes again. */
  heal(): Promise<void>;
  /** Removes the store of the schedule. */
  end(): Promise<void>;
  close(): Promise<void>;
}

export type Fault = Extract<Action, { kind: EngineFault }>;

export const isOfDisk = (kind: EngineFault): boolean => kind.startsWith('disk.');
