/** `npm run bench -- NAME [flags]`: prints JSON and a table (docs/benchmarks). */
import { ClusterClient } from '../helpers/cluster-client.ts';
import { benchCatalogs } from './catalogs/catalogs.ts';
import { benchServe } from './catalogs/serve.ts';
import { benchServedCatalog } from './catalogs/served-catalog.ts';
import { benchConversion } from './conversion/conversion.ts';
import { benchCorpus } from './corpus/corpus.ts';
import { benchHelm } from './helm/helm.ts';
import { benchMirror } from './mirror/mirror.ts';
import { benchRender } from './render.ts';
import { benchColdResolution } from './resolution/cold.ts';
import { benchNamespaces } from './resolution/namespaces.ts';
import { benchResolvePackage } from './resolution/packages.ts';
import { benchCrowd } from './scale/crowd.ts';
import { benchScale } from './scale/scale.ts';
import { benchUnpackMemory } from './unpack-memory.ts';

const benchmarks = new Map([
  ['render', benchRender],
  ['conversion', benchConversion],
  ['scale', benchScale],
  ['crowd', benchCrowd],
  ['corpus', benchCorpus],
  ['unpack-memory', benchUnpackMemory],
  ['helm', benchHelm],
  ['mirror', benchMirror],
  ['catalogs', benchCatalogs],
  ['serve', benchServe],
  ['served-catalog', benchServedCatalog],
  ['namespaces', benchNamespaces],
  ['resolve-package', benchResolvePackage],
  ['resolve-cold', benchColdResolution],
]);

// Exit handlers stop the started processes; a signal alone would not run them.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

const [name = '', ...flags] = process.argv.slice(2);
const benchmark = benchmarks.get(name);
if (benchmark === undefined) {
  console.error(`usage: npm run bench -- ${[...benchmarks.keys()].join('|')} [flags]`);
  process.exitCode = 2;
} else {
  try {
    await benchmark(flags);
  } finally {
    await ClusterClient.closeAll();
  }
}
