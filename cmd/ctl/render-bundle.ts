import { TerminalError } from '../../core/errors.ts';
import { type BundleFiles, type KubernetesObject, readPlainBundle } from '../../core/sdk.ts';
import { distinctObjects } from '../../provisioners/plain/plain-objects.ts';
import { convertRegistryBundle } from '../../provisioners/registry/convert-bundle.ts';
import { classNameOf } from './class-of-content.ts';

export interface RenderOptions {
  /** A class's name, or what is left of it without `core-rukpak-io-`; told by content if absent. */
  readonly className?: string;
  /** Overrides the namespace that a registry bundle suggests, and that of a chart's release. */
  readonly installNamespace?: string;
}

type Renderer = (files: BundleFiles, options: RenderOptions) => readonly KubernetesObject[];

/** Without storing anything in between: a Bundle's handler and then the deployment of its content. */
const renderers: ReadonlyMap<string, Renderer> = new Map<string, Renderer>([
  ['core-rukpak-io-plain', (files) => distinctObjects(readPlainBundle(files))],
  [
    'core-rukpak-io-registry',
    (files, { installNamespace }) =>
      convertRegistryBundle(files, {
        config: { overrides: {}, ...(installNamespace === undefined ? {} : { installNamespace }) },
      }),
  ],
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
