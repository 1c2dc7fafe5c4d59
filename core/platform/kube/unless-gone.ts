import { isObjectNotFound } from './api-error.ts';

/** What a request about one object answers; undefined where somebody has deleted the object meanwhile. */
export async function unlessGone<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isObjectNotFound(error)) return undefined;
    throw error;
  }
}
