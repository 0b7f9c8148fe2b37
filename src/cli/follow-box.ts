/** Adds the tool `follow` to `earpiece mcp`. */
import type { Toolbox } from '../gateway/riding/toolbox.ts';
import { worktreeOf } from '../inbox/index.ts';
import { FOLLOW_TOOL } from '../sources/follow/tool-shape.ts';
import type { UserInbox } from '../user-inbox.ts';

/** Makes the toolbox, which loads the modules of the tool at its first call. */
export function followBox({ inbox }: { readonly inbox: UserInbox }): Toolbox {
  return {
    tools: [FOLLOW_TOOL],
    answer: async ({ args }, { conversation }) => {
      const { answerFollow } = await import('../sources/follow/tool.ts');
      const { startLooker } = await import('./looker.ts');
      const { emitter, project } = inbox;
      const folder = worktreeOf(process.cwd());
      const call = { args, log: conversation.log, folder, project, inbox, emitter, start: () => startLooker(inbox, folder) };
      return { text: JSON.stringify(await answerFollow(call)), carries: true };
    },
  };
}
