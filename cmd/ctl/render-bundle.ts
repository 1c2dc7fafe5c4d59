import { TerminalError } from '../../core/errors.ts';
import { distinctObjects, withoutLeftOut } from '../../core/manifests/index.ts';
import {
  type BundleFiles,
  type ClusterFacts,
  type KubernetesObject,
  readPlainBundle,
} from '../../core/sdk.ts';
import { classNameOf } from '../../provisioners/class-of-content.ts';
import { convertRegistryBundle } from '../../provisioners/registry/index.ts';
import { type RegistryConfigOptions, registryConfigOf } from './registry-config.ts';

export interface RenderOptions extends RegistryConfigOptions {
  /** A class's name, or what is left of it without `core-rukpak-io-`; told by content if absent. */
  readonly className?: string;
  /** What is known of the cluster that it is for; a registry bundle is judged by it. */
  readonly cluster?: ClusterFacts;
}

type Renderer = (files: BundleFiles, options: RenderOptions) => readonly KubernetesObject[];

/** Without storing anything in between: a Bundle's handler and then the deployment of its content. */
const renderers: ReadonlyMap<string, Renderer> = new Map<string, Renderer>([
  ['core-rukpak-io-plain', renderPlain],
  ['core-rukpak-io-registry', renderRegistry],
]);

/**
 * The objects that a BundleDeployment of this content would apply, as far as they are known without
 * a cluster: plain objects without a namespace are left as written. Charts are not for it: they
 * take an engine, see `renderContent`.
 * @throws TerminalError with the message of the Bundle's Unpacked condition.
 */
export function renderBundle(
  files: BundleFiles,
  options: RenderOptions,
): readonly KubernetesObject[] {
  const className = classNameOf(files, options.className);
  const renderer = renderers.get(className);
  if (renderer !== undefined) return renderer(files, options);
  throw new TerminalError(`class "${className}" cannot be rendered here`);
}

function renderPlain(files: BundleFiles, { config }: RenderOptions): readonly KubernetesObject[] {
  if (config === undefined) return withoutLeftOut(distinctObjects(readPlainBundle(files))).objects;
  throw new TerminalError(
    '--config: plain content is applied as written, whatever spec.config has',
  );
}

function renderRegistry(files: BundleFiles, options: RenderOptions): readonly KubernetesObject[] {
  const { cluster } = options;
  const config = registryConfigOf(options);
  const objects = convertRegistryBundle(files, {
    ...(config === undefined ? {} : { config }),
    ...(cluster === undefined ? {} : { cluster }),
  });
  return withoutLeftOut(objects).objects;
}
