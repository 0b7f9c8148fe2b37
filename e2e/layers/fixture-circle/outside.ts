export const outside = async (): Promise<unknown> => import('./later.ts');
