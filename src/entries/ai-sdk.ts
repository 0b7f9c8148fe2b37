/** `earpiece/ai-sdk`. Notifications and the gate for agents of the AI SDK. */
import '../node-version.ts';

export * from '../ai-sdk/index.ts';
