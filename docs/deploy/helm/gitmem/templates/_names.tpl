{{- define "gitmem.labels" -}}
app.kubernetes.io/name: gitmem
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- define "gitmem.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag }}
{{- end }}
{{- define "gitmem.options" -}}
sslmode=verify-full&sslrootcert=/certs/ca.pem
{{- end }}
{{- define "gitmem.database" -}}
{{ .Values.database.hosts }}/{{ .Values.database.name }}
{{- end }}
{{- define "gitmem.hosts" -}}
{{- $port := "" }}
{{- if ne (print .Values.service.port) "80" }}{{ $port = print ":" .Values.service.port }}{{ end }}
{{- $name := print .Release.Name "-search" }}
{{- $long := print $name "." .Release.Namespace }}
{{- $name }}{{ $port }},{{ $long }}{{ $port }},{{ $long }}.svc{{ $port }},{{ $long }}.svc.cluster.local{{ $port }}
{{- range .Values.hosts }},{{ . }}{{ end }}
{{- end }}
