/** `earpiece/ai-sdk`. Notifications and the gate for agents of the AI SDK. */
import '../node-version.ts';

import { aiSdk as inner, type AiSdkOptions, type RunOptions, type SdkAgent, type Turn } from '../ai-sdk/index.ts';
import { check, fullName, innerOf, type Earpiece } from '../library/index.ts';

/** The adapter for one agent: `aiSdk(ear, 'coder')`. */
export function aiSdk(earpiece: Earpiece, agent: string, options: AiSdkOptions = {}): ReturnType<typeof inner> {
  const inbox = innerOf(earpiece);
  check('aiSdk', options, { onTrouble: 'any' });
  return inner(inbox, fullName('aiSdk', earpiece.project, agent), options);
}

export { ToolRefused } from '../ai-sdk/index.ts';
export type { AiSdkOptions, RunOptions, SdkAgent, Turn };
