import { test } from 'vitest';

/** A test of the suite that classes have to pass; what tells the same from the same starts a thread. */
export function testOfClass(title: string, run: () => Promise<void>): void {
  const tags = title.endsWith('is handled the same whenever and wherever') ? ['process'] : [];
  test(title, { tags }, run);
}
