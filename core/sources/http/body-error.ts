import { connectionProblem } from '../../platform/net/index.ts';

/** What broke while the body was being read. */
export function bodyError(url: URL, error: unknown): Error {
  return new Error(
    `GET ${url.href}: reading the bundle content failed: ${connectionProblem(error)}`,
    { cause: error },
  );
}
