import { fail } from 'node:assert';
import type { Source } from '../../core/sdk.ts';
import { inTime } from '../calls.ts';
import type { SuiteOptions } from '../suite.ts';
import {
  checkAbort,
  checkEmptySpec,
  checkFetch,
  checkLimits,
  checkPin,
  checkRefusal,
  checkSecret,
  checkShareable,
} from './checks.ts';
import type { SourceFixtures } from './fixtures.ts';

/**
 * Declares the tests that every source must pass: the promises of the contract, tested with the
 * source's own specs.
 */
export function describeSource(
  given: Source,
  { fetched, refused = [], timeout }: SourceFixtures,
  { test }: SuiteOptions,
): void {
  const source = withDeadline(given, timeout);
  const declare = (title: string, run: () => Promise<void>): void => {
    test(`source ${source.type}: ${title}`, run);
  };
  declare('has something to try it with', async () => {
    if (fetched.length === 0) fail('the fixtures have nothing that is fetched');
  });
  for (const fixture of fetched) {
    const { name } = fixture;
    declare(`"${name}" is fetched`, () => checkFetch(source, fixture));
    declare(`"${name}" is pinned to what was fetched`, () => checkPin(source, fixture));
    declare(`"${name}" reads no other Secret than it names`, () => checkSecret(source, fixture));
    declare(`"${name}" is the same for every Bundle`, () => checkShareable(source, fixture));
    declare(`"${name}" stays within the limits`, () => checkLimits(source, fixture));
    declare(`"${name}" ends when it is aborted`, () => checkAbort(source, fixture));
  }
  declare('a spec of nothing but its type is refused', () => checkEmptySpec(source));
  for (const fixture of refused) {
    declare(`"${fixture.name}" is refused`, () => checkRefusal(source, fixture));
  }
}

/** The source, with an OverdueError for each fetch that does not end in time. */
function withDeadline(given: Source, timeout?: number): Source {
  const { type, pin, shareable, secretsListHosts } = given;
  return {
    type,
    pin,
    shareable,
    ...(secretsListHosts !== undefined && { secretsListHosts }),
    host: (source) => given.host(source),
    ...(given.secret && { secret: (source) => given.secret?.(source) }),
    fetch: (...call) => inTime('fetch', timeout, () => given.fetch(...call)),
  };
}
