/** Milliseconds. */
const defaultTimeout = 60_000;

/** A call that has not settled in time: the suite's own finding, and no refusal by what is tried. */
export class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/** @throws OverdueError that names the handler, after `timeout` milliseconds. */
export async function inTime<T>(
  handler: string,
  timeout: number | undefined,
  call: () => Promise<T>,
): Promise<T> {
  const limit = timeout ?? defaultTimeout;
  const overdue = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    overdue.reject(
      new OverdueError(
        `${handler} has not settled within ${limit / 1000} s: see what it awaits, or give it longer (timeout in the fixtures)`,
      ),
    );
  }, limit);
  try {
    return await Promise.race([call(), overdue.promise]);
  } finally {
    clearTimeout(timer);
  }
}
