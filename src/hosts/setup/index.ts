export { install, uninstall } from './apply.ts';
export { type Ours } from './ours.ts';
export { changes, planInstall, planUninstall, type FilePlan } from './plan.ts';
export { installBook, type InstallBook } from './record.ts';
export type { Place, Scope, Setup } from './setup.ts';
export { SETUPS } from './setups.ts';
