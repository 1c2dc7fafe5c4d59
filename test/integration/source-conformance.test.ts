import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, test } from 'vitest';
import { systemClock } from '../../core/platform/clock.ts';
import { createGitSource } from '../../core/sources/git/git-source.ts';
import { createHttpSource, createImageSource } from '../../core/sources/index.ts';
import { TestRepository } from '../../deploy/local/git/create-repository.ts';
import { startGitServer } from '../../deploy/local/git/git-server.ts';
import { describeSource } from '../../testing/index.ts';
import { anArchive } from '../helpers/archives.ts';
import { FileServer } from '../helpers/file-server.ts';
import { plane } from '../helpers/plane.ts';
import { pushImage } from '../helpers/push-image.ts';

const files = { 'manifests/a.yaml': 'a: 1', 'manifests/b.yaml': 'b: 2' };

// The suites want to know what they fetch before a test runs.
const root = await mkdtemp(join(tmpdir(), 'rukpak-sources-'));
const repository = await TestRepository.create(root, 'colours');
const commit = await repository.commit({ files });
const git = await startGitServer({ root });
const web = await FileServer.start();
web.files.set('/colours.tgz', await anArchive(files));
const registry = plane.registry;
const target = { registry, repository: 'integration/source-conformance' };
const { digest } = await pushImage({ ...target, tag: 'v1', layers: [{ files }] });
const image = `${registry}/${target.repository}`;

afterAll(async () => {
  await git.close();
  await web.stop();
  await rm(root, { recursive: true, force: true });
});

describeSource(
  createGitSource(),
  {
    fetched: [
      {
        name: 'a branch',
        source: aGitSource({ branch: 'main' }),
        files,
        resolvedSource: aGitSource({ commit }),
      },
    ],
    refused: [
      {
        name: 'half a commit',
        source: aGitSource({ commit: 'abc' }),
        error: 'TerminalError',
        message: /^checkout commit "abc0+": object not found$/,
      },
    ],
  },
  { test },
);

describeSource(
  createHttpSource(),
  {
    fetched: [{ name: 'an archive', source: aWebSource('/colours.tgz'), files }],
    refused: [
      {
        name: 'a file that is not there',
        source: aWebSource('/none.tgz'),
        error: 'Error',
        message: /404/,
      },
    ],
  },
  { test },
);

describeSource(
  createImageSource({ insecureRegistries: [registry], clock: systemClock }),
  {
    fetched: [
      {
        name: 'a tag',
        source: { type: 'image', image: { ref: `${image}:v1` } },
        files,
        resolvedSource: { type: 'image', image: { ref: `${image}@${digest}` } },
      },
    ],
    refused: [
      {
        name: 'a tag that nobody has pushed',
        source: { type: 'image', image: { ref: `${image}:none` } },
        error: 'WaitingError',
        message: /^Back-off pulling image /,
      },
    ],
  },
  { test },
);

function aGitSource(ref: {
  readonly branch?: string;
  readonly tag?: string;
  readonly commit?: string;
}) {
  return { type: 'git', git: { repository: `${git.url}/colours`, ref } };
}

function aWebSource(path: string) {
  return { type: 'http', http: { url: `${web.url}${path}` } };
}
