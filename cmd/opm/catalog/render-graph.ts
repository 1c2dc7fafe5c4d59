import { drawMermaid, upgradeGraph } from '../../../catalog/graph/index.ts';
import { catalogKinds, renderedParts } from '../../../catalog/render/index.ts';
import { errorMessage } from '../../../core/errors.ts';
import { writeOutput } from '../../ctl/output/output.ts';
import type { CobraCall, CobraCommand } from '../cobra/command.ts';
import { minimumArgs } from '../cobra/positional-args.ts';
import { logFatal } from '../failures.ts';
import { systemAccess } from '../system-access.ts';
import { warnOfRange } from '../warn-of-range.ts';
import { databaseWarning } from './migrate-level.ts';

const example = `
#
# Output channel graph of a catalog in mermaid format
#
$ opm alpha render-graph quay.io/operatorhubio/catalog:latest

#
# Output channel graph of a catalog and generate a scaled vector graphic (SVG) representation
#
$ opm alpha render-graph quay.io/operatorhubio/catalog:latest | \\
    docker run --rm -i -v "$PWD":/data ghcr.io/mermaid-js/mermaid-cli/mermaid-cli -o /data/operatorhubio-catalog.svg

# Note:  mermaid has a default maxTextSize of 30 000 characters.  To override this, generate a JSON-formatted initialization file for
# mermaid like this (using 300 000 for the limit):
$ cat << EOF > ./mermaid.json
{ "maxTextSize": 300000 }
EOF
# and then pass the file for initialization configuration, via the '-c' option, like:
$ opm alpha render-graph quay.io/operatorhubio/catalog:latest | \\
    docker run --rm -i -v "$PWD":/data ghcr.io/mermaid-js/mermaid-cli/mermaid-cli -c /data/mermaid.json -o /data/operatorhubio-catalog.svg


\t\t`;

export const renderGraphCommand: CobraCommand = {
  use: 'render-graph [index-image | fbc-dir]',
  long: 'Generate mermaid-formatted view of upgrade graphs of operators in an index',
  example,
  args: minimumArgs(1),
  flags: [
    {
      name: 'minimum-edge',
      kind: 'string',
      usage:
        'the channel edge to be used as the lower bound of the set of edges composing the upgrade graph; default is to include all edges',
    },
    {
      name: 'package-name',
      short: 'p',
      kind: 'string',
      usage:
        'a specific package name to filter output; default is to include all packages in reference',
    },
    {
      name: 'draw-v0-semantics',
      kind: 'bool',
      usage:
        'whether to indicate OLMv0 semantics in the output; default is to simply represent the upgrade graph',
    },
  ],
  run: async (call) => {
    try {
      await renderGraph(call);
    } catch (error) {
      throw logFatal(errorMessage(error));
    }
  },
};

async function renderGraph({ args, flags, signal }: CobraCall): Promise<void> {
  const registry = systemAccess(flags, args);
  const options = { registry, signal, allowed: catalogKinds, onDatabase: databaseWarning() };
  const parts = renderedParts(args, options);
  const drawing = drawMermaid(await upgradeGraph(parts), {
    package: flags.string('package-name'),
    minimumEdge: flags.string('minimum-edge'),
    drawV0Semantics: flags.bool('draw-v0-semantics'),
    warn: warnOfRange,
  });
  await writeOutput(drawing, process.stdout);
}
