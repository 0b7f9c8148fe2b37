export { decide, isClosed, runningOf, type Command, type Decision, type Facts, type Telling } from './decide.ts';
export { evolve, replayTask } from './evolve.ts';
export { isTaskRecord, TASK_RECORDS, type Fact, type TaskRecord } from './records.ts';
export { agentName, oneOf, Tasks, type Change, type TaskEdit, type TaskInput, type TaskQuery } from './tasks.ts';
export { hasTasks } from './settings.ts';
export { isTaskTool, offersTaskTools, REPORT_TOOL, TASK_TOOLS, type TaskTool } from './tool-list.ts';
export { answerTask, type TaskAnswer, type TaskCall, type TaskCallOptions } from './tools.ts';
export { executionsPass } from './succession.ts';
export { nextFor, report, type Next, type Report, type Reported } from './work.ts';
