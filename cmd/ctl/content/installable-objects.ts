import { TerminalError } from '../../../core/errors.ts';
import type { BundleFiles, KubernetesObject } from '../../../core/sdk.ts';
import { classNameOf, helmClass } from '../../../provisioners/class-of-content.ts';
import { type RenderContentOptions, registryConfigOf, renderContent } from './render-content.ts';

/**
 * The objects of content of any built-in class, as `render` prints them: none that could not be
 * installed.
 * @throws TerminalError with the message of the conditions, or with every error that `validate`
 * reports.
 */
export async function installableObjects(
  files: BundleFiles,
  options: RenderContentOptions,
): Promise<readonly KubernetesObject[]> {
  const objects = await renderContent(files, options);
  const refusals =
    classNameOf(files, options.className) === helmClass
      ? await chartRefusals(objects, options)
      : await bundleRefusals(files, options, objects.length);
  if (refusals.length > 0) throw new TerminalError(refusals.join('\n'));
  return objects;
}

async function bundleRefusals(
  files: BundleFiles,
  { className, config: written }: RenderContentOptions,
  count: number,
): Promise<readonly string[]> {
  const { problemLine, refusalsOf } = await import('../../../catalog/bundle-checks/index.ts');
  const config = written === undefined ? undefined : registryConfigOf({ config: written });
  const options = {
    ...(className === undefined ? {} : { className }),
    ...(config === undefined ? {} : { config }),
  };
  return refusalsOf(files, options, count).map(problemLine);
}

/** Checks the objects themselves, because only `render` has all of the values. */
async function chartRefusals(
  objects: readonly KubernetesObject[],
  { chart }: RenderContentOptions,
): Promise<readonly string[]> {
  // The checks know one version of Kubernetes.
  if (chart?.kubeVersion !== undefined) return [];
  const { isError, problemLine, renderedObjectProblems } = await import(
    '../../../catalog/bundle-checks/index.ts'
  );
  return renderedObjectProblems(objects).filter(isError).map(problemLine);
}
