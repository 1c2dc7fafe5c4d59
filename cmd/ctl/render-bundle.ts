import { TerminalError } from '../../core/errors.ts';
import { type BundleFiles, type KubernetesObject, readPlainBundle } from '../../core/sdk.ts';
import { distinctObjects } from '../../provisioners/plain/plain-objects.ts';
import { convertRegistryBundle } from '../../provisioners/registry/convert-bundle.ts';

export interface RenderOptions {
  /** A class's name, or what is left of it without `core-rukpak-io-`; told by content if absent. */
  readonly className?: string;
  /** Overrides the namespace that a registry bundle suggests. */
  readonly installNamespace?: string;
}

type Renderer = (files: BundleFiles, options: RenderOptions) => readonly KubernetesObject[];

const prefix = 'core-rukpak-io-';

/** Without storing anything in between: a Bundle's handler and then the deployment of its content. */
const renderers: ReadonlyMap<string, Renderer> = new Map<string, Renderer>([
  ['core-rukpak-io-plain', (files) => distinctObjects(readPlainBundle(files))],
  ['core-rukpak-io-registry', (files, options) => convertRegistryBundle(files, options)],
]);

/**
 * The objects that a BundleDeployment of this content would apply, as far as they are known without
 * a cluster: plain objects without a namespace are left as written.
 * @throws TerminalError with the message of the Bundle's Unpacked condition.
 */
export function renderBundle(
  files: BundleFiles,
  options: RenderOptions,
): readonly KubernetesObject[] {
  const className = classNameOf(files, options.className);
  return renderers.get(className)?.(files, options) ?? [];
}

/**
 * The full name of the class that a person means, or that the content looks like.
 * @throws TerminalError where it is none that can be rendered.
 */
export function classNameOf(files: BundleFiles, className = detectClass(files)): string {
  const known = [...renderers.keys()];
  const found = known.find((name) => name === className || name === `${prefix}${className}`);
  if (found !== undefined) return found;
  throw new TerminalError(`class "${className}" cannot be rendered: use ${known.join(' or ')}`);
}

function detectClass(files: BundleFiles): string {
  return files.files.has('metadata/annotations.yaml') ? `${prefix}registry` : `${prefix}plain`;
}
