import type { ProvisionerContext } from '../../contracts/provisioner.ts';
import type { ContentMemory } from '../../contracts/source.ts';
import type { ByteBudget, InTurn, MemoryShare } from '../../platform/runtime/index.ts';

/** The memory of one answer, in the budget of all content and processes. */
export interface AnswerMemory extends Pick<ContentMemory, 'take'> {
  /** Forgets the bytes of an answer that broke off: another one comes. */
  restart(): void;
  /** The answer is here, and is not given up any more. */
  arrived(): void;
}

/**
 * Runs work on an answer whose bytes count like those of a fetch: they wait for others, and the budget
 * ends an answer that its server delays, which core asks for again. Otherwise a server could fill the
 * memory of core itself with a few answers at once.
 */
export async function inMemory<C extends ProvisionerContext, T>(
  budget: Pick<ByteBudget, 'open'>,
  context: InTurn<C>,
  work: (context: InTurn<C>, memory: AnswerMemory) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const share = budget.open({ kind: 'fetch', onEnd: (reason) => ended.abort(reason) });
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const given = { ...context, signal };
  try {
    return await work(given, memoryOf(share, given));
  } finally {
    share.release();
  }
}

function memoryOf(share: MemoryShare, { signal, turn }: InTurn<ProvisionerContext>): AnswerMemory {
  const { countdown } = turn ?? {};
  return {
    take: async (bytes) => {
      const take = (): Promise<void> => share.take(bytes, signal);
      await (countdown === undefined ? take() : countdown.uncounted(take));
    },
    restart: () => share.set(0),
    arrived: () => share.settle(share.bytes),
  };
}
