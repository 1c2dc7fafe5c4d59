import { Budget } from '../../../resolver/budget.ts';
import type { CatalogContents, ServingCatalog } from '../catalog-contents.ts';
import { answerFrom, type PackageAnswer, type PackageQuestion } from './package-answer.ts';

/** A question, and the catalogs that may answer it. */
export interface AskedPackage extends PackageQuestion {
  readonly isWanted: (catalog: ServingCatalog) => boolean;
}

/** Resolves packages by the content of catalogs. */
export interface PackageResolver {
  /** @throws the signal's reason */
  resolve(asked: AskedPackage, signal: AbortSignal): Promise<PackageAnswer>;
}

/** Resolves in this process, whatever it takes: for programs that serve nothing meanwhile. */
export function inlineResolver(contents: Pick<CatalogContents, 'findPackage'>): PackageResolver {
  return {
    resolve: async ({ isWanted, ...question }, signal) => {
      signal.throwIfAborted();
      const find = (name: string) => contents.findPackage(name, isWanted);
      return await answerFrom(find, question, new Budget());
    },
  };
}
