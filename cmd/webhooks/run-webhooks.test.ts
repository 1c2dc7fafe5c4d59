import { expect, onTestFinished, test } from 'vitest';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/resources.ts';
import { configMapResource } from '../../core/platform/kube/index.ts';
import { FakeApiServer } from '../../test/helpers/fake-api-server.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { twoContexts } from '../../test/helpers/two-contexts.ts';
import { runProgram } from '../program.ts';

test.each([
  ['webhooks', 'rukpak-system', 'rukpak-webhook-serving-certificate'],
  ['crdvalidator', 'crdvalidator-system', 'crd-validation-webhook-serving-certificate'],
])('rukpak %s stops in order while it waits for its first certificate', async (...names) => {
  const [command, namespace, secret] = names;
  const api = await FakeApiServer.start();
  onTestFinished(() => api.stop());
  await using two = await twoContexts(api);
  api.serve(bundleResource, bundleDeploymentResource, configMapResource);
  const asked = Promise.withResolvers<void>();
  api.answer(`/api/v1/namespaces/${namespace}/secrets/${secret}`, () => {
    asked.resolve();
    return new Promise(() => undefined);
  });
  const stop = new AbortController();
  const printed: string[] = [];
  const running = runProgram(
    [
      command,
      `--kubeconfig=${two.kubeconfig}`,
      '--context=mine',
      '--webhook-bind-address=127.0.0.1:0',
      '--health-probe-bind-address=0',
      '--metrics-bind-address=0',
    ],
    {
      stopSignal: () => stop.signal,
      createLogger: () => silentLogger,
      print: (line) => void printed.push(line),
      printError: (line) => void printed.push(line),
    },
  );
  await asked.promise;
  stop.abort(new Error('received SIGTERM'));
  expect({ code: await running, printed }).toEqual({ code: 0, printed: [] });
});
