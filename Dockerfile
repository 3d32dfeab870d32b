# A server over the store in /data, read-only: docker run -p 7878:7878 -v "$PWD/my.db:/data" IMAGE
FROM node:22-slim AS page
COPY ui /source/ui
RUN cd /source/ui && npm ci && npm run build

FROM python:3.13-slim AS build
COPY . /source
COPY --from=page /source/triplestore/server/page/bundle /source/triplestore/server/page/bundle
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --no-cache-dir "/source[server,jit]"

FROM python:3.13-slim
COPY --from=build /opt/venv /opt/venv
ENV PATH="/opt/venv/bin:$PATH" XDG_CACHE_HOME=/var/cache
RUN useradd --system --home-dir /data store && install -d -o store /var/cache/triplestore
USER store
RUN triplestore warm-up --quiet
EXPOSE 7878
ENTRYPOINT ["triplestore"]
CMD ["serve", "-l", "/data", "--bind", "0.0.0.0:7878", "--no-login"]
