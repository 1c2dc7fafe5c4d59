import { performance } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClassHost, runInWorkers } from '../../core/classes/index.ts';
import { TerminalError } from '../../core/sdk.ts';
import { chartProvisionerModules } from '../../provisioners/index.ts';
import { aBundleDeployment, aContext, bundleFiles } from '../../testing/index.ts';
import { ampleMemory } from '../helpers/ample-memory.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

// Without a control plane: what the class does with a chart, in processes as the manager has them.
let workers: ClassHost;

beforeAll(async () => {
  workers = await runInWorkers({
    modules: chartProvisionerModules,
    size: 1,
    memory: ampleMemory(),
    besidesMegabytes: 768,
    logger: silentLogger,
  });
});

afterAll(async () => {
  await workers.close();
});

const cluster = { version: 'v1.36.3', apiVersions: ['v1'], systemNamespace: 'rukpak-system' };

async function render(template: string, signal = AbortSignal.timeout(300_000)) {
  const [helm] = workers.provisioners;
  const files = bundleFiles({
    'chart/Chart.yaml': '{apiVersion: v2, name: web, version: 1.0.0}',
    'chart/templates/a.yaml': template,
  });
  const context = aContext({ signal, cluster });
  return await helm?.deployment?.(files, aBundleDeployment({ name: 'demo' }), context);
}

const innocent = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\n';

async function expectNextToRender() {
  expect(await render(innocent)).toMatchObject([{ metadata: { name: 'demo' } }]);
}

describe('a hostile chart harms its own object only', () => {
  test.each([
    ['a huge range', '{{ range until 100000000 }}a{{ end }}', 'needs more than 512 MiB of memory'],
    ['a huge text', '{{ repeat 1000000000 "abc" }}', 'needs more than 512 MiB of memory'],
    [
      'a template that includes itself',
      '{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}',
      'nested reference name: x',
    ],
  ])('%s is refused', async (_, template, message) => {
    const rendering = render(template);
    await expect(rendering).rejects.toThrow(message);
    await expect(rendering).rejects.toBeInstanceOf(TerminalError);
    await expectNextToRender();
  });

  test('one without an end is ended with its process when the time is over', async () => {
    await expectNextToRender();
    const endless = '{{ range until 1000000 }}{{ range until 1000000 }}{{ end }}{{ end }}';
    const limit = AbortSignal.timeout(3_000);
    const startedAt = performance.now();
    await expect(render(endless, limit)).rejects.toThrow(/timeout/);
    // A second to answer, which it cannot use; by itself it would end in hours.
    expect(performance.now() - startedAt).toBeLessThan(200_000);
    await expectNextToRender();
  });

  test('meanwhile this process goes on', async () => {
    const rendering = render('{{ range until 300000 }}{{ sha256sum "a" }}{{ end }}').catch(
      () => {},
    );
    let turns = 0;
    const counting = setInterval(() => turns++, 10);
    await rendering;
    clearInterval(counting);
    expect(turns).toBeGreaterThan(10);
  });
});
