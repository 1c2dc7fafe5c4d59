import {
  neededModes,
  supportedModes,
  watchesAllNamespaces,
} from '../installation/install-modes.ts';
import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/**
 * The namespaces to watch must be what one of the operator's install modes allows, by OLM's rules.
 * Without a spec.config they are all namespaces, and the message is v0.16's.
 */
export function supportedInstallMode(
  { csv }: RegistryBundle,
  installation: Installation,
): string | undefined {
  const supported = supportedModes(csv);
  if (neededModes(installation).every((mode) => supported.has(mode))) return undefined;
  if (!installation.configured) return 'AllNamespace install mode must be enabled';
  const targets = watchesAllNamespaces(installation)
    ? 'targeting all namespaces'
    : `target namespaces [${installation.targetNamespaces.join(' ')}]`;
  const modes = [...supported].join(' ');
  return `supported install modes [${modes}] do not support ${targets}: ${wayOut(supported, installation)}`;
}

function wayOut(supported: ReadonlySet<string>, installation: Installation): string {
  const ways = modeWays.flatMap(([mode, way]) => (supported.has(mode) ? way(installation) : []));
  if (ways.length === 0) return 'the operator supports none, correct spec.installModes of its CSV';
  return `write ${ways.join(', or ')}`;
}

/** What to write for each mode, for whoever has written something else. */
const modeWays: readonly (readonly [
  mode: string,
  way: (installation: Installation) => readonly string[],
])[] = [
  ['AllNamespaces', () => ['neither spec.config.watchNamespace nor watchNamespaces']],
  ['OwnNamespace', ownNamespaceWays],
  [
    'SingleNamespace',
    ({ installNamespace }) => [
      `spec.config.watchNamespace: <another namespace than ${installNamespace}>`,
    ],
  ],
  [
    'MultiNamespace',
    ({ installNamespace }) => [
      `spec.config.watchNamespaces: <several namespaces without ${installNamespace}>`,
    ],
  ],
];

function ownNamespaceWays({ installNamespace, targetNamespaces }: Installation): readonly string[] {
  const [only = '', ...more] = targetNamespaces;
  const watched = `spec.config.watchNamespace: ${installNamespace}`;
  if (only === '' || more.length > 0 || only === installNamespace) return [watched];
  return [watched, `spec.config.installNamespace: ${only}`];
}
