import { systemClock } from '../../core/platform/clock.ts';
import { ByteBudget } from '../../core/platform/runtime/index.ts';

/** For content and processes of tests that are about something else. */
export function ampleMemory(): ByteBudget {
  return new ByteBudget({ bytes: 1024 ** 3, clock: systemClock });
}
