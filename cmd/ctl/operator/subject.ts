import { TerminalError } from '../../../core/errors.ts';
import type { PackageWish } from '../../../operators/client/index.ts';
import type { Subject } from '../../../operators/extensions/index.ts';
import { kindToCreate, notServed, type OperatorSession } from './session.ts';

interface SubjectWish extends PackageWish {
  readonly clusterExtension?: true | undefined;
}

/**
 * The Operator or ClusterExtension of a name, changed as the wish says; without such an object, one
 * that would be made for the package of that name.
 */
export async function subjectOf(
  session: OperatorSession,
  reference: string,
  wish: SubjectWish,
): Promise<Subject> {
  const { newExtension, withWish } = await import('../../../operators/client/index.ts');
  const extensions = await session.extensions();
  if (extensions.kinds.size === 0) throw notServed();
  const live = extensions.find(reference);
  if (live !== undefined) return await extensions.subjectOf(withWish(live, wish));
  if (reference.includes('/')) throw new TerminalError(`there is no ${reference}`);
  const kind = kindToCreate(extensions, wish.clusterExtension === true);
  const object = newExtension({ kind, name: reference, packageName: reference, ...wish });
  return await extensions.subjectOf(object);
}
